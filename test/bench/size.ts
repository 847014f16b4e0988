import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import * as v from 'valibot';
import { atMost, type Figure } from './figure.ts';

const lockSchema = v.object({ packages: v.record(v.string(), v.unknown()) });

/** The weight of the repository, beside its budget. */
export function benchSize(): Figure[] {
  const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
    .split('\0')
    .filter((file) => existsSync(file) && file !== '');
  const lines = (what: string, pattern: RegExp, limit: number): Figure =>
    atMost(`${what}: lines`, linesOf(files.filter((file) => pattern.test(file))), limit);
  const { packages } = v.parse(lockSchema, JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8')));
  const megabytes = Number(execFileSync('du', ['-sm', 'node_modules'], { encoding: 'utf8' }).split('\t')[0]);
  return [
    lines('product (functions, infra, shared)', /^(functions|infra|shared)\/.*\.ts$/, 16_000),
    lines('tests', /^test\/.*\.ts$/, 18_000),
    lines('test/support', /^test\/support\/.*\.ts$/, 2_400),
    lines('docs and README', /^(docs\/.*|README)\.md$/, 2_500),
    lines('README', /^README\.md$/, 150),
    atMost('files in the repository', files.length, 430),
    atMost('packages in node_modules', Object.keys(packages).length, 600),
    atMost('node_modules', megabytes, 860, ' MB'),
  ];
}

const linesOf = (files: readonly string[]): number =>
  files.reduce((total, file) => total + (readFileSync(file, 'utf8').match(/\n/g)?.length ?? 0), 0);
