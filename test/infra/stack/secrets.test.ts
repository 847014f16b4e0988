import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { demoKey } from '../../../infra/demo-keys.ts';
import { stageNames } from '../../../infra/stages.ts';
import { isKeyHash } from '../../../shared/keys/api-key.ts';
import { planIds } from '../../../shared/keys/plans.ts';
import { secretsIn } from '../../support/secrets.ts';
import { resourcesOf, synthesizedStages } from '../../support/synthesized.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

const assembly = synthesizedOnce();
/** They are known to everybody, and yet belong in nothing that is deployed. */
const demoKeys = planIds.map(demoKey);

/** All but what AWS itself brings packed: the CDK's layer with the AWS CLI. */
const files = readdirSync(assembly, { recursive: true, encoding: 'utf8' }).filter(
  (file) => statSync(join(assembly, file)).isFile() && !file.endsWith('.zip'),
);

const functionSchema = v.object({
  Environment: v.object({ Variables: v.record(v.string(), v.unknown()) }),
});

/** Every variable of every function, as `function: NAME`, with its value. */
const variables = Object.values(synthesizedStages()).flatMap((stage) =>
  resourcesOf(stage, 'AWS::Lambda::Function', functionSchema).flatMap(({ id, properties }) =>
    Object.entries(properties.Environment.Variables).map(([name, value]) => ({ of: `${id}: ${name}`, name, value })),
  ),
);

describe('What is deployed', () => {
  test('is all there to be scanned: the templates of each stage, and the bundle of each function', () => {
    for (const stage of stageNames) {
      expect(files.filter((file) => file.includes(stage) && file.endsWith('.template.json'))).not.toEqual([]);
    }
    expect(files.filter((file) => file.endsWith('function.cjs')).length).toBeGreaterThanOrEqual(7);
  });

  test('holds no secret: no template, no bundle, no other file of the assembly', () => {
    const leaks = files.flatMap((file) =>
      secretsIn(readFileSync(join(assembly, file), 'latin1'), demoKeys).map(
        ({ kind, line }) => `${file}:${line}: ${kind}`,
      ),
    );

    expect(leaks).toEqual([]);
  });
});

describe('The environment variables of the functions', () => {
  test('have no names of secrets', () => {
    const names = new Set(variables.map(({ name }) => name));

    expect([...names].filter((name) => /SECRET|PASSWORD|TOKEN|CREDENTIAL|PRIVATE|API_KEY/i.test(name))).toEqual([]);
  });

  test('take nothing from a parameter or a secret store as the stack is deployed', () => {
    expect(variables.filter(({ value }) => JSON.stringify(value).includes('{{resolve:'))).toEqual([]);
  });

  /** 64 hex digits are never taken for a key: these open nothing. */
  const METERED_AS = ['OVERFLOW_USAGE_IDENTIFIER', 'INTERIM_USAGE_IDENTIFIER'];

  test('hold nothing that is random enough to be one, but for what the gateway meters requests as', () => {
    const suspicious = variables.filter(({ value }) => typeof value === 'string' && /[0-9A-Za-z+/]{24}/.test(value));

    expect(new Set(suspicious.map(({ name }) => name))).toEqual(new Set(METERED_AS));
    expect(suspicious.filter(({ value }) => typeof value !== 'string' || !isKeyHash(value))).toEqual([]);
  });
});
