import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { deployCommand } from '../../../infra/deploy/main.ts';
import { capture, type Outcome } from '../../support/admin-command.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory();
const calls = path.join(directory, 'calls');

/** Programs in the place of those that the command calls: each writes down how it was called. */
const programs = {
  cdk: `
if [ "$1" = synth ]; then cp -rl "$SYNTHESIZED_SERVICE/." "$5"; fi
if [ "$1" = deploy ]; then stage=\${2%/*}; echo '{"'$stage'-Inventory":{"GatewayUrl":"https://aws/v1","BaseUrl":"https://api/v1"}}' > "$6"; fi`,
  node: `
case "$*" in *create*) echo '{"id":"smokekey","key":"psk_smoke"}' ;; *smoke/main*) test "$PET_STORE_API_KEY" = psk_smoke ;; esac`,
};
for (const [name, script] of Object.entries(programs)) {
  const file = path.join(directory, name);
  writeFileSync(
    file,
    `#!/bin/sh\necho "$(basename "$0") $*" >> ${calls}${script} && case "$*" in $FAILS) exit 2 ;; esac\n`,
  );
  chmodSync(file, 0o755);
}

// The suite is to be the same before and after a commit.
const git = path.join(directory, 'git');
writeFileSync(git, '#!/bin/sh\ncase "$*" in *status*) echo "$CHANGES" ;; *) echo 4a7c ;; esac\n');
chmodSync(git, 0o755);

const alone = {
  CI: undefined,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_DEFAULT_REGION: undefined,
  AWS_PROFILE: undefined,
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  PATH: `${directory}:${process.env['PATH']}`,
};

export const forgetCalls = (): void => writeFileSync(calls, '');

/** How the programs were called since `forgetCalls`, in order. */
export const called = (): string[] =>
  readFileSync(calls, 'utf8')
    .replaceAll(/\S*\/assembly-\w+/g, 'FOLDER')
    .split('\n')
    .slice(0, -1);

/** `npm run deploy -- …` in this process; only what it calls is a process of its own. */
export async function deploy(words: readonly string[], env: Environment = {}): Promise<Outcome> {
  acceptForeignErrors();
  const changes = { ...alone, ...env };
  const outside = Object.fromEntries(Object.keys(changes).map((name) => [name, process.env[name]]));
  setEnvironment(changes);
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  const exitCode = await deployCommand(words).finally(() => {
    for (const { end } of [stdout, stderr]) end();
    setEnvironment(outside);
  });
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

type Environment = Readonly<Record<string, string | undefined>>;

function setEnvironment(env: Environment): void {
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
