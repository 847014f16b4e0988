import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stageNames } from '../../../infra/stages.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

/** What CloudFormation finds out while it deploys, and the CDK does not. */

const templateSchema = v.looseObject({
  Parameters: v.optional(v.record(v.string(), v.unknown()), {}),
  Resources: v.record(
    v.string(),
    v.looseObject({ Type: v.string(), Properties: v.optional(v.record(v.string(), v.unknown()), {}) }),
  ),
  Outputs: v.optional(v.record(v.string(), v.unknown()), {}),
});

const templates = stageNames.flatMap((stage) => {
  const folder = path.join(synthesizedOnce(), `assembly-${stage}`);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.template.json'))
    .map((file) => {
      const text = readFileSync(path.join(folder, file), 'utf8');
      const { Parameters, Resources, Outputs } = v.parse(templateSchema, JSON.parse(text));
      return { file, text, Parameters, Resources, Outputs };
    });
});

/** The names that a value refers to: by Ref, GetAtt, Sub or DependsOn. */
function* referencesIn(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    for (const part of value) yield* referencesIn(part);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (name === 'Ref' || name === 'DependsOn') yield* [part].flat().filter((one) => typeof one === 'string');
    else if (name === 'Fn::GetAtt' && Array.isArray(part)) yield String(part[0]);
    else if (name === 'Fn::Sub') yield* substitutionsIn(part);
    else yield* referencesIn(part);
  }
}

function* substitutionsIn(argument: unknown): Generator<string> {
  const [text, names]: unknown[] = Array.isArray(argument) ? argument : [argument, {}];
  yield* referencesIn(names);
  for (const [, name = ''] of String(text).matchAll(/\$\{([^!.}]+)/g)) yield name;
}

/** The resources that refer to each other, so that none can be made first. */
function inCircles(resources: (typeof templates)[number]['Resources']): string[] {
  const waiting = new Map(
    Object.entries(resources).map(([id, resource]) => [id, [...referencesIn(resource)].filter((name) => name !== id)]),
  );
  for (;;) {
    const ready = [...waiting].filter(([, needs]) => !needs.some((name) => waiting.has(name)));
    if (ready.length === 0) return [...waiting.keys()];
    for (const [id] of ready) waiting.delete(id);
  }
}

/** The most that a property may have as JSON, in bytes. What stands for a name there is filled in when it is deployed. */
const limits: Readonly<Record<string, readonly { of: string; most: number }[]>> = {
  'AWS::ApiGateway::RestApi': [{ of: 'Description', most: 1_024 }],
  'AWS::CloudWatch::Alarm': [{ of: 'AlarmDescription', most: 1_024 }],
  'AWS::Events::Rule': [{ of: 'Description', most: 512 }],
  'AWS::IAM::Policy': [{ of: 'PolicyDocument', most: 8_000 }],
  'AWS::Lambda::Function': [
    { of: 'Description', most: 256 },
    { of: 'Environment', most: 3_500 },
  ],
};

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value ?? ''));

describe.each(templates)('$file', ({ Parameters, Resources, Outputs, text }) => {
  test('refers to nothing that is not there, and has an order in which its resources can be made', () => {
    const known = new Set([...Object.keys(Resources), ...Object.keys(Parameters)]);
    const names = [...referencesIn({ Resources, Outputs })].filter((name) => !name.startsWith('AWS::'));

    expect(names.filter((name) => !known.has(name))).toEqual([]);
    expect(inCircles(Resources)).toEqual([]);
  });

  test('keeps within what CloudFormation and the services take', () => {
    const sizes = Object.entries(Resources).flatMap(([id, { Type, Properties }]) =>
      (limits[Type] ?? []).map(({ of, most }) => ({ id, of, size: sizeOf(Properties[of]), most })),
    );

    expect(Object.keys(Resources).length).toBeLessThanOrEqual(500);
    expect(Object.keys(Outputs).length).toBeLessThanOrEqual(200);
    expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024);
    expect(sizes.filter(({ size, most }) => size > most)).toEqual([]);
  });
});

test('What a stack imports, one before it exports', () => {
  const everything = templates.map(({ text }) => text).join('');
  const exported = [...everything.matchAll(/"Export":\s*\{\s*"Name":\s*"([^"]+)"/g)].map(([, name]) => name);
  const imported = [...everything.matchAll(/"Fn::ImportValue":\s*"([^"]+)"/g)].map(([, name]) => name);

  expect(imported.length).toBeGreaterThan(0);
  expect(exported).toEqual(expect.arrayContaining(imported));
});
