import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, jest, test } from '@jest/globals';

// The AWS CLI takes a second and more to start.
jest.setTimeout(120_000);

const hasAwsCli = spawnSync('aws', ['--version']).status === 0;
if (!hasAwsCli) process.stderr.write('Skipped: the parser of the AWS CLI: there is no aws on the PATH\n');

const root = path.join(import.meta.dirname, '..');
const pages = [
  'README.md',
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join('docs', file)),
];

/** From `aws` on up to where the shell goes on with something else; what is in quotes belongs to it. */
const awsCommand = /\baws (?=[a-z])(?:"[^"]*"|'[^']*'|\\\n|[^\n|;)`"'#])+/g;

/** The commands of a page that read, in code, as they stand there. */
function readingCommands(page: string): string[] {
  const text = readFileSync(path.join(root, page), 'utf8');
  const code = [...text.matchAll(/```sh\n[\s\S]*?```|`[^`\n]+`/g)].map(([found]) => found);
  return code
    .flatMap((block) => [...block.matchAll(awsCommand)].map(([found]) => found.trim()))
    .filter((command) => /^aws [\w-]+ (describe|get|list|detect)-/.test(command));
}

const commands = [...new Set(pages.flatMap(readingCommands))];

/** What the shell would have put in: names that a page leaves open, and variables. */
const filledIn = (command: string): string =>
  command
    .replaceAll(/"\$\(node[^"]*"[^"]*"\)"|"\$\([^)]*\)"/g, '2026-11-21T00:00:00Z')
    .replaceAll(/\$\{?\w+\}?/g, 'some-value')
    .replaceAll('…', 'some-value');

const env = {
  ...process.env,
  AWS_ACCESS_KEY_ID: 'any',
  AWS_SECRET_ACCESS_KEY: 'any',
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_DEFAULT_REGION: 'us-east-1',
  AWS_PAGER: '',
};

describe('the AWS commands of the pages that read', () => {
  test('are found', () => {
    expect(commands.length).toBeGreaterThan(12);
  });

  (hasAwsCli ? test : test.skip)('are what the stock AWS CLI takes: it checks all but the call', async () => {
    const faults: string[] = [];
    const waiting = [...commands];
    const check = async (): Promise<void> => {
      for (let command = waiting.pop(); command !== undefined; command = waiting.pop()) {
        const run = promisify(execFile)('sh', ['-c', `${filledIn(command)} --generate-cli-skeleton output`], { env });
        await run.catch((error: unknown) => faults.push(`${command}\n${String(error)}`));
      }
    };
    await Promise.all([check(), check(), check()]);

    expect(faults).toEqual([]);
  });

  test.each(commands)('take all pages, each as it comes: %s', (command) => {
    // It ends at 100 resources, and pages no further.
    expect(command).not.toContain('describe-stack-resources');
    const [, query = ''] = /--query ("[^"]*"|'[^']*'|\S+)/.exec(command) ?? [];
    // As text, a query is asked of each page for itself: a count or a slice would be one of each page.
    if (command.includes('--output text')) expect(query).not.toMatch(/length\(|max_by|min_by|sort|\[-?\d*:-?\d*\]/);
    // A count has to be of everything.
    if (query.includes('length(')) expect(command).toContain('--output json');
  });
});
