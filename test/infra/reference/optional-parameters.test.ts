import { describe, expect, test } from '@jest/globals';
import type { OpenAPIObject, ParameterObject, ReferenceObject } from 'openapi3-ts/oas31';
import { openApiDocument } from '../../../infra/reference/document.ts';
import { withOptionalParametersOff } from '../../../infra/reference/optional-parameters.ts';

const about = { openapi: '3.1.1', info: { title: 'Pets', version: '1.0.0' }, paths: {} };

const changed = (parameter: ParameterObject | ReferenceObject): unknown =>
  withOptionalParametersOff({ ...about, components: { parameters: { parameter } } }).components?.parameters?.[
    'parameter'
  ];

describe('the try-it', () => {
  test('leaves out an optional parameter, and proposes its example', () => {
    expect(changed({ name: 'limit', in: 'query', schema: { type: 'integer' }, example: 100 })).toEqual({
      name: 'limit',
      in: 'query',
      schema: { type: 'integer' },
      examples: { example: { value: 100, 'x-disabled': true } },
    });
  });

  test('leaves out an optional parameter without an example', () => {
    expect(changed({ name: 'cursor', in: 'query' })).toEqual({
      name: 'cursor',
      in: 'query',
      examples: { example: { 'x-disabled': true } },
    });
  });

  test.each<ParameterObject | ReferenceObject>([
    { name: 'petId', in: 'path', required: true, example: 101 },
    { $ref: '#/components/parameters/PetId' },
  ])('keeps what is required, and what stands elsewhere: %j', (parameter) => {
    expect(changed(parameter)).toEqual(parameter);
  });

  test('leaves a document without parameters as it is', () => {
    const document: OpenAPIObject = { ...about, components: { schemas: { Pet: { type: 'object' } } } };

    expect(withOptionalParametersOff(document)).toEqual({
      ...document,
      components: { ...document.components, parameters: {} },
    });
  });

  test('finds every parameter of the service: all are components', () => {
    const { paths = {} } = openApiDocument({ serverUrl: 'https://api.example.com/v1', environment: 'local' });
    const parameters = Object.values(paths).flatMap(({ get, patch }) =>
      [get, patch].flatMap((operation) => operation?.parameters ?? []),
    );

    expect(parameters.length).toBeGreaterThan(5);
    for (const parameter of parameters) expect(Object.keys(parameter)).toEqual(['$ref']);
  });
});
