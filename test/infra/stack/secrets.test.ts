import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { demoKey } from '../../../infra/demo-keys.ts';
import { stageNames } from '../../../infra/stages.ts';
import { planIds } from '../../../shared/keys/plans.ts';
import { generateToken, hashToken } from '../../../shared/keys/token.ts';
import { secretsIn, secretsInLog } from '../../support/secrets.ts';
import { inventoryTemplate } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

const assembly = synthesizedOnce();

/** All but what AWS itself brings packed: the CDK's layer with the AWS CLI. */
const files = readdirSync(assembly, { recursive: true, encoding: 'utf8' }).filter(
  (file) => statSync(join(assembly, file)).isFile() && !file.endsWith('.zip'),
);

test('No deployed file contains a secret: no template, bundle or other asset', () => {
  // They are known to everybody, and yet belong in nothing that is deployed.
  const demoKeys = planIds.map(demoKey);
  const leaks = files.flatMap((file) =>
    secretsIn(readFileSync(join(assembly, file), 'latin1'), demoKeys).map(
      ({ kind, line }) => `${file}:${line}: ${kind}`,
    ),
  );

  expect(leaks).toEqual([]);
  expect(files.filter((file) => file.endsWith('function.cjs')).length).toBeGreaterThanOrEqual(7);
});

test('No function variable is a secret, except the usage identifiers, which grant no access', () => {
  const schema = v.object({ Environment: v.object({ Variables: v.record(v.string(), v.unknown()) }) });
  const variables = stageNames
    .flatMap((stage) => Object.values(inventoryTemplate(stage).Resources))
    .filter(({ Type, Properties }) => Type === 'AWS::Lambda::Function' && 'Environment' in Properties)
    .flatMap(({ Properties }) => Object.entries(v.parse(schema, Properties).Environment.Variables));
  const suspicious = variables.filter(([, value]) => typeof value === 'string' && /[0-9A-Za-z+/]{24}/.test(value));

  for (const [name, value] of variables) {
    expect(name).not.toMatch(/SECRET|PASSWORD|TOKEN|CREDENTIAL|PRIVATE|API_KEY/i);
    expect(JSON.stringify(value)).not.toContain('{{resolve:');
  }
  expect(new Set(suspicious.map(([name]) => name))).toEqual(
    new Set(['OVERFLOW_USAGE_IDENTIFIER', 'INTERIM_USAGE_IDENTIFIER']),
  );
});

test('The secret scan finds a key and its hash in every form, and never prints them', () => {
  const key = generateToken();
  const hash = hashToken(key);
  const found: [text: string, kind: string][] = [
    [`GET /inventory?key=${generateToken()}`, 'an API key'],
    [Buffer.from(key).toString('base64'), 'an API key in base64'],
    [key.slice(20, 44), 'a piece of a known key'],
    [Buffer.from(hash, 'base64url').toString('hex'), 'the hash of a known key'],
    [`#${hashToken('x')}`, 'a hash in base64url'],
    ['{"authorization":"Bearer made-in-the-console-of-aws"}', 'a bearer token'],
    ['"AWS_ACCESS_KEY_ID":"ASIAIOSFODNN7EXAMPLE"', 'an AWS access key id'],
  ];

  for (const [text, kind] of found) {
    const leaks = secretsInLog(`first\n${text}\nlast`, [key]);
    expect(leaks).toContainEqual({ kind, line: 2 });
    expect(JSON.stringify(leaks)).not.toContain(text);
  }
  expect(secretsInLog(`{"message":"Send Bearer <API_KEY>."} ${key.slice(0, 20)}…${key.slice(-4)}`, [key])).toEqual([]);
});
