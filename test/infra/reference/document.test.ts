import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { openApiDocument } from '../../../infra/reference/document.ts';
import { schemaOf } from '../../../infra/reference/schemas.ts';
import { writtenDocument } from '../../../infra/reference/write-docs.ts';
import { errorCatalog } from '../../../shared/contract/errors.ts';
import { integerFrom } from '../../../shared/contract/int64.ts';
import { inventoryUpdateSchema, MAX_QUANTITY } from '../../../shared/contract/inventory.ts';
import { everyOperationErrors, type Operation, operations } from '../../../shared/contract/operations.ts';
import { allowedRequestHeaders, deprecationHeaders, exposedHeaders } from '../../../shared/http/response-headers.ts';
import { DocumentedApi } from '../../support/documented-api.ts';
import { admittedHeaders } from '../../support/proxy-event.ts';

const serverUrl = 'https://${Token[TOKEN.42]}/v1';
const document = openApiDocument({ serverUrl, environment: 'production' });
const json = JSON.stringify(document);
const all: readonly [string, Operation][] = Object.entries(operations);

const responseSchema = v.object({
  headers: v.record(v.string(), v.unknown()),
  content: v.optional(v.object({ 'application/json': v.object({ examples: v.record(v.string(), v.unknown()) }) })),
});
const reference = v.object({ $ref: v.string() });
const operationSchema = v.looseObject({
  responses: v.record(v.string(), v.union([reference, responseSchema])),
});
const documentSchema = v.looseObject({
  info: v.object({ description: v.string() }),
  paths: v.record(v.string(), v.record(v.string(), operationSchema)),
  components: v.looseObject({
    responses: v.record(v.string(), responseSchema),
    parameters: v.record(v.string(), v.looseObject({ name: v.string(), in: v.string() })),
  }),
});

const written = v.parse(documentSchema, JSON.parse(json));

function responsesOf({ path, method }: Operation): [string, v.InferOutput<typeof responseSchema>][] {
  const { responses = {} } = written.paths[path]?.[method.toLowerCase()] ?? {};
  return Object.entries(responses).map(([status, response]) => [
    status,
    '$ref' in response
      ? v.parse(responseSchema, written.components.responses[response.$ref.split('/').at(-1) ?? ''])
      : response,
  ]);
}

describe('The OpenAPI document', () => {
  test.each(all)('has an example response for each error of %s, and for no other', (_, operation) => {
    const declared = responsesOf(operation).flatMap(([status, { content }]) =>
      Object.keys(content?.['application/json'].examples ?? {}).map((code) => `${status} ${code}`),
    );
    const errors = [...operation.errors, ...everyOperationErrors];
    expect(declared.filter((one) => Number.parseInt(one) >= 400).toSorted()).toEqual(
      errors.map((code) => `${errorCatalog[code].status} ${code}`).toSorted(),
    );
  });

  test('names only headers that CORS allows a browser to read or send', () => {
    const read = all.flatMap(([, operation]) =>
      responsesOf(operation).flatMap(([, { headers }]) => Object.keys(headers)),
    );
    const sent = Object.values(written.components.parameters).filter((parameter) => parameter.in === 'header');

    expect(exposedHeaders).toEqual(expect.arrayContaining([...new Set(read)]));
    expect(allowedRequestHeaders).toEqual(expect.arrayContaining(sent.map(({ name }) => name)));
  });

  test('is valid OpenAPI 3.1, with the parameters of each path', async () => {
    expect(await new Validator().validate(JSON.parse(json))).toEqual({ valid: true });
    const ofPath = { $ref: '#/components/parameters/PetId' };
    for (const { path, method } of Object.values(operations).filter((one) => one.path.includes('{petId}')))
      expect(written.paths[path]?.[method.toLowerCase()]?.['parameters']).toContainEqual(ofPath);
  });

  test('has examples that match their schemas, and one description for each value', () => {
    const ajv = addFormats.default(new Ajv2020({ strict: false }));
    const { components } = JSON.parse(json);
    const faults: string[] = [];
    JSON.parse(json, (_, part) => {
      const { schema, example, examples = example === undefined ? {} : { example: { value: example } } } = Object(part);
      const [, referred = ''] = /^#\/components\/schemas\/(.+)/.exec(part?.$ref ?? schema?.$ref) ?? [];
      if (part?.description && components.schemas[referred]?.description)
        faults.push(`${referred}: ${part.description}`);
      if (schema === undefined) return part;
      const isValid = ajv.compile({ ...schema, components });
      for (const [name, { value = components.examples[name]?.value }] of Object.entries<{ value?: unknown }>(examples))
        if (!isValid(value)) faults.push(`${name}: ${ajv.errorsText(isValid.errors)}`);
      return part;
    });
    expect(faults).toEqual([]);
  });

  test('has patterns without escaped slashes, which some languages reject', () => {
    expect(json).toContain('"pattern":"^https?:');
    expect(json).not.toContain(String.raw`\\/`);
  });

  test('is the same as docs/openapi.json', () => {
    const file = readFileSync(join(import.meta.dirname, '../../../docs/openapi.json'), 'utf8');

    expect(JSON.parse(file)).toEqual(JSON.parse(writtenDocument()));
  });

  test('has every section of the guide that it or a deprecation header links to', () => {
    const epoch = new Date(0);
    const { Link } = deprecationHeaders({ deprecatedAt: epoch, sunsetAt: epoch, page: 'https://pets.example.com' });
    const anchors = [...`${json}${Link}`.matchAll(/#description\/([\w-]+)/g)].map(([, anchor]) => anchor);
    const sections = [...written.info.description.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', '-'),
    );

    expect(anchors.length).toBeGreaterThan(3);
    expect(sections).toEqual(expect.arrayContaining([...new Set(anchors)]));
  });
});

test.each([
  [0, MAX_QUANTITY, 'int32'],
  [0, MAX_QUANTITY + 1, 'int64'],
  [-MAX_QUANTITY - 2, 0, 'int64'],
])('An integer from %i to %i is an %s', (min, max, format) => {
  expect(schemaOf(integerFrom(min, max))).toMatchObject({ type: 'integer', format });
});

test('A schema of the document accepts exactly what the validator of requests accepts', () => {
  const isValid = addFormats.default(new Ajv2020({ strict: false })).compile(schemaOf(inventoryUpdateSchema));
  const quantity = fc.oneof(fc.jsonValue(), fc.nat(), fc.constantFrom(0, -1, 2_147_483_647, 2_147_483_648));
  const body = fc.oneof(fc.jsonValue(), fc.record({ quantity, more: fc.jsonValue() }, { requiredKeys: [] }));

  fc.assert(fc.property(body, (value) => expect(isValid(value)).toBe(v.is(inventoryUpdateSchema, value))));
});

/** All end-to-end suites use this check: if it found nothing, no test would fail. */
describe('The response check', () => {
  const documented = new DocumentedApi();
  const entry = '{"petId":9223372036854775807,"quantity":1,"status":"sold"}';
  const right = {
    'Content-Type': 'application/json',
    'x-amzn-RequestId': '8e03978e-40d5-43dd-bc93-6894a57f9324',
    ...admittedHeaders,
    ETag: '"1"',
    'X-API-Stability': 'experimental',
  };

  test.each<[fault: RegExp, status: number, headers: object, text: string]>([
    [/^$/, 200, {}, entry],
    [/status 418/, 418, {}, entry],
    [/x-more is not declared/, 200, { 'X-More': '*' }, entry],
    [/Strict-Transport-Security is no/, 200, { 'Strict-Transport-Security': 'no' }, entry],
    [/X-RateLimit-Limit: many/, 200, { 'X-RateLimit-Limit': 'many' }, entry],
    [/NOT have additional/, 200, {}, entry.replace('{', '{"more":1,')],
    [/petId must be integer/, 200, {}, entry.replace('5807', '5808')],
  ])('reports %s', (fault, status, headers, text) => {
    const response = { status, headers: new Headers({ ...right, ...headers }), text };
    expect(documented.faults(response, { method: 'PATCH', path: '/inventory/101' }).join()).toMatch(fault);
  });
});
