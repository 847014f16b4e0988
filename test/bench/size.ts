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
  const code = files.filter((file) => file.endsWith('.ts'));
  const production = code.filter((file) => /^(functions|infra|shared)\//.test(file));
  const { packages } = v.parse(lockSchema, JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8')));
  const megabytes = Number(execFileSync('du', ['-sm', 'node_modules'], { encoding: 'utf8' }).split('\t')[0]);
  return [
    atMost('production TypeScript, hand-written: lines', linesOf(production), 16_400),
    atMost('tests, support and bench: lines', linesOf(code.filter((file) => file.startsWith('test/'))), 18_300),
    atMost('files in the repository', files.length, 420),
    atMost('packages in node_modules', Object.keys(packages).length, 600),
    atMost('node_modules', megabytes, 860, ' MB'),
    atMost('README: lines', linesOf(['README.md']), 150),
  ];
}

function linesOf(files: readonly string[]): number {
  return files.reduce((total, file) => total + (readFileSync(file, 'utf8').match(/\n/g)?.length ?? 0), 0);
}
