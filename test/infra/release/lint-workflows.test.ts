import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Outcome, run } from '../../support/admin-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { texts } from '../../support/workflows.ts';

const folder = temporaryFolder();
const lint = (...words: string[]): Promise<Outcome> =>
  run(process.execPath, ['infra/release/lint-workflows.ts', ...words]);

describe('npm run lint:workflows', () => {
  test('finds nothing wrong with the pipeline', async () => {
    expect(await lint()).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  test('exits with 1 for a workflow that is broken, and says where', async () => {
    const broken = path.join(folder, 'broken');
    const text = texts.get('deploy.yml') ?? '';
    mkdirSync(broken);
    writeFileSync(path.join(broken, 'deploy.yml'), text.replace('needs: staging', 'needs: stagin'));
    const { exitCode, stdout, stderr } = await lint(broken);

    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
    expect(stdout).toMatch(/broken\/deploy\.yml:\d+:\d+: job "production" needs job "stagin" which does not exist/);
    expect(stdout.split('\n')).toHaveLength(2);
  });

  test('exits with 2 where there are none', async () => {
    expect(await lint('infra/release')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: 'There are no workflows in infra/release.\n',
    });
  });
});
