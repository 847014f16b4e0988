import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { demoKey } from '../../../infra/demo-keys.ts';
import { stageNames } from '../../../infra/stages.ts';
import { planIds } from '../../../shared/keys/plans.ts';
import { secretsIn } from '../../support/secrets.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { resourcesOf, synthesizedStages } from '../../support/synthesized.ts';

const assembly = synthesizedOnce();

const HEX_HASH = /^[0-9a-f]{64}$/;

/** All but what AWS itself brings packed: the CDK's layer with the AWS CLI. */
const files = readdirSync(assembly, { recursive: true, encoding: 'utf8' }).filter(
  (file) => statSync(join(assembly, file)).isFile() && !file.endsWith('.zip'),
);

test('What is deployed holds no secret: no template, no bundle, no other file of the assembly', () => {
  // They are known to everybody, and yet belong in nothing that is deployed.
  const demoKeys = planIds.map(demoKey);
  const leaks = files.flatMap((file) =>
    secretsIn(readFileSync(join(assembly, file), 'latin1'), demoKeys).map(
      ({ kind, line }) => `${file}:${line}: ${kind}`,
    ),
  );

  expect(leaks).toEqual([]);
  for (const stage of stageNames) {
    expect(files.filter((file) => file.includes(stage) && file.endsWith('.template.json'))).not.toEqual([]);
  }
  expect(files.filter((file) => file.endsWith('function.cjs')).length).toBeGreaterThanOrEqual(7);
});

test('No variable of a function is a secret, but for what the gateway meters requests as, which opens nothing', () => {
  const schema = v.object({ Environment: v.object({ Variables: v.record(v.string(), v.unknown()) }) });
  const variables = Object.values(synthesizedStages())
    .flatMap((stage) => resourcesOf(stage, 'AWS::Lambda::Function', schema))
    .flatMap(({ properties }) => Object.entries(properties.Environment.Variables));
  const suspicious = variables.flatMap(([name, value]) =>
    typeof value === 'string' && /[0-9A-Za-z+/]{24}/.test(value) ? [{ name, isHash: HEX_HASH.test(value) }] : [],
  );

  for (const [name, value] of variables) {
    expect(name).not.toMatch(/SECRET|PASSWORD|TOKEN|CREDENTIAL|PRIVATE|API_KEY/i);
    expect(JSON.stringify(value)).not.toContain('{{resolve:');
  }
  expect(new Set(suspicious.map(({ name }) => name))).toEqual(
    new Set(['OVERFLOW_USAGE_IDENTIFIER', 'INTERIM_USAGE_IDENTIFIER']),
  );
  expect(suspicious.filter(({ isHash }) => !isHash)).toEqual([]);
});
