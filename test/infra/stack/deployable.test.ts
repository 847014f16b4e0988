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
  Outputs: v.optional(v.record(v.string(), v.looseObject({})), {}),
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

/** The resources of a template in an order in which each comes after those that it refers to. */
function orderOf(resources: (typeof templates)[number]['Resources']): string[] {
  const waiting = new Map(
    Object.entries(resources).map(([id, resource]) => [
      id,
      new Set([...referencesIn(resource)].filter((name) => name in resources && name !== id)),
    ]),
  );
  const order: string[] = [];
  for (;;) {
    const next = [...waiting].filter(([, needs]) => [...needs].every((name) => !waiting.has(name)));
    if (next.length === 0) break;
    for (const [id] of next) {
      waiting.delete(id);
      order.push(id);
    }
  }
  return waiting.size === 0 ? order : [...order, `a circle of ${[...waiting.keys()].join(', ')}`];
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
  test('refers to nothing that is not there', () => {
    const known = new Set([...Object.keys(Resources), ...Object.keys(Parameters)]);
    const unknown = [...referencesIn({ Resources, Outputs })].filter(
      (name) => !known.has(name) && !name.startsWith('AWS::'),
    );

    expect(unknown).toEqual([]);
  });

  test('has an order in which its resources can be made, releases included', () => {
    expect(orderOf(Resources).toSorted()).toEqual(Object.keys(Resources).toSorted());
  });

  test('keeps within what CloudFormation takes', () => {
    expect(Object.keys(Resources).length).toBeLessThanOrEqual(500);
    expect(Object.keys(Outputs).length).toBeLessThanOrEqual(200);
    expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024);
  });

  test('keeps within what the services take', () => {
    const sizes = Object.entries(Resources).flatMap(([id, { Type, Properties }]) =>
      (limits[Type] ?? []).map(({ of, most }) => ({ id, of, size: sizeOf(Properties[of]), most })),
    );

    expect(sizes.filter(({ size, most }) => size > most)).toEqual([]);
  });
});

test('What a stack imports, one before it exports', () => {
  const exported = new Set<unknown>();
  for (const { Outputs } of templates) {
    for (const output of Object.values(Outputs)) {
      if ('Export' in output) exported.add(v.parse(v.object({ Name: v.string() }), output.Export).Name);
    }
  }
  const everything = templates.map(({ text }) => text).join('');
  const imported = [...everything.matchAll(/"Fn::ImportValue":\s*"([^"]+)"/g)];

  expect(imported.length).toBeGreaterThan(0);
  for (const [, name] of imported) expect(exported).toContain(name);
});
