import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { run } from '../../support/admin-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const out = path.join(temporaryFolder(), 'bom.json');

const client = '@aws-sdk/client-dynamodb';
const { version } = v.parse(
  v.object({ version: v.string() }),
  JSON.parse(readFileSync(`node_modules/${client}/package.json`, 'utf8')),
);

test('npm run sbom writes a CycloneDX document of the packages that are installed', async () => {
  const { exitCode, stdout, stderr } = await run(process.execPath, ['infra/release/sbom.ts', '--out', out]);
  const bom: unknown = JSON.parse(readFileSync(out, 'utf8'));

  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(/^Wrote \d{3,} packages to .*bom\.json\n$/);
  expect(bom).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: expect.stringMatching(/^1\.\d$/),
    serialNumber: expect.stringMatching(/^urn:uuid:/),
    metadata: { component: { name: 'pet-store-inventory-service', version: '1.0.0' } },
  });
  expect(bom).toHaveProperty(
    'components',
    expect.arrayContaining([expect.objectContaining({ name: client, version })]),
  );
});
