import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { schemaSource } from '../../../shared/client/build/schema-source.ts';
import { int64Fields, requiredFields } from '../../../shared/client/build/shapes.ts';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('the types of the client', () => {
  test('are those of the OpenAPI document (npm run client)', async () => {
    expect(read('shared/client/schema.ts')).toBe(await schemaSource(read('docs/openapi.json')));
  });
});

describe('what the client checks of answers', () => {
  const int64 = { type: 'integer', format: 'int64' };
  const label = { type: 'object', properties: { id: int64, name: { type: 'string' } }, required: ['id', 'name'] };
  const schemas = {
    Label: label,
    Thing: {
      type: 'object',
      properties: { count: { type: 'integer' }, kind: { $ref: '#/components/schemas/Kind' }, label, more: label },
      required: ['count', 'kind', 'label'],
    },
    Kind: { type: 'string' },
    Things: { type: 'array', items: { type: 'object', properties: { thingId: int64 } } },
  };

  test('are the fields that must be there', () => {
    expect(requiredFields(schemas)).toEqual({
      Label: { id: 'bigint', name: 'string' },
      Thing: { count: 'number', kind: 'string', label: 'object' },
    });
  });

  test('are the int64 fields, however deep', () => {
    expect(int64Fields(schemas)).toEqual(['id', 'thingId']);
  });

  test('cannot be derived where a name means two things', () => {
    const other = { ...schemas, Other: { type: 'object', properties: { id: { type: 'string' } } } };
    expect(() => int64Fields(other)).toThrow('The field id is an int64 in one place and a string in another');
  });
});
