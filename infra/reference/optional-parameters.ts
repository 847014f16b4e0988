import type { ExampleObject, OpenAPIObject, ParameterObject, ReferenceObject } from 'openapi3-ts/oas31';

/**
 * The document with every optional parameter left out of a request until the reader ticks it. The try-it would send
 * them all with the values of their examples: a first PATCH would say `If-Match`, and be refused.
 */
export function withOptionalParametersOff(document: OpenAPIObject): OpenAPIObject {
  const parameters = Object.entries(document.components?.parameters ?? {});
  return {
    ...document,
    components: {
      ...document.components,
      parameters: Object.fromEntries(parameters.map(([name, parameter]) => [name, offUnlessRequired(parameter)])),
    },
  };
}

function offUnlessRequired(parameter: ParameterObject | ReferenceObject): ParameterObject | ReferenceObject {
  if ('$ref' in parameter || parameter.required === true) return parameter;
  const { example, ...rest } = parameter;
  // An extension of OpenAPI that Scalar knows.
  const off: ExampleObject = { ...(example !== undefined && { value: example }), 'x-disabled': true };
  return { ...rest, examples: { example: off } };
}
