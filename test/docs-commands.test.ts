import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';

/**
 * The stock AWS CLI, in one process for all commands: it checks names, options, values and the query of each, and then
 * no server at the other end. Prints its output for each.
 */
const parser = `
import contextlib, io, json, shlex, sys
from awscli.clidriver import create_clidriver
outputs, driver = [], create_clidriver()
for command in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try: driver.main([*shlex.split(command)[1:], '--endpoint-url', 'http://127.0.0.1:1'])
        except SystemExit: pass
    outputs.append(out.getvalue())
print(json.dumps(outputs))
`;

const hasParser = spawnSync('python3', ['-c', 'import awscli.clidriver']).status === 0;
if (!hasParser)
  process.stderr.write('Skipped: the parser of the AWS CLI (pip install awscli): Python does not find it\n');

const root = path.join(import.meta.dirname, '..');
const pages = [
  'README.md',
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join('docs', file)),
];

/** From `aws` on up to where the shell goes on with something else; what is in quotes belongs to it. */
const awsCommand = /\baws (?=[a-z])(?:"[^"]*"|'[^']*'|\\\n|[^\n|;)`"'#<>])+/g;

/** The commands of a page that read, in code, as they stand there. */
function readingCommands(page: string): string[] {
  const text = readFileSync(path.join(root, page), 'utf8');
  const code = [...text.matchAll(/```sh\n[\s\S]*?```|`[^`\n]+`/g)].map(([found]) => found);
  return code
    .flatMap((block) => [...block.replaceAll('"$(aws', '\naws').matchAll(awsCommand)].map(([found]) => found.trim()))
    .filter((command) => /^aws [\w-]+ (describe|get|list|detect)-/.test(command));
}

const commands = [...new Set(pages.flatMap(readingCommands))];

/** What the shell would have put in: names that a page leaves open, and variables. */
const filledIn = (command: string): string =>
  command
    .replaceAll('\\\n', ' ')
    .replaceAll(/"\$\([^"]*\)"/g, '2026-11-21T00:00:00Z')
    .replaceAll(/\$\{?\w+\}?|…/g, 'some-value');

const env = {
  ...process.env,
  AWS_ACCESS_KEY_ID: 'any',
  AWS_SECRET_ACCESS_KEY: 'any',
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_DEFAULT_REGION: 'us-east-1',
  AWS_MAX_ATTEMPTS: '1',
  AWS_PAGER: '',
};

(hasParser ? describe : describe.skip)('the stock AWS CLI', () => {
  test('accepts every reading command of the docs', () => {
    const wrong = 'aws sts get-caller-identity --no-such-option';
    const input = JSON.stringify([...commands.map(filledIn), wrong]);
    const { stdout } = spawnSync('python3', ['-c', parser], { input, env, encoding: 'utf8' });
    const outputs = v.parse(v.array(v.string()), JSON.parse(stdout)).map((text) => text.trim());
    const faults = commands.flatMap((command, index) =>
      outputs[index]?.includes('Could not connect to the endpoint URL') ? [] : `${command}\n${outputs[index]}`,
    );

    expect(commands.length).toBeGreaterThan(10);
    expect(outputs.at(-1)).toMatch('Unknown options: --no-such-option');
    expect(faults).toEqual([]);
  }, 60_000);
});
