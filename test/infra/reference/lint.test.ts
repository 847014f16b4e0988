import { beforeAll, describe, expect, test } from '@jest/globals';
import { openApiDocument, openApiJson } from '../../../infra/reference/document.ts';
import { exceptions, excuses, lintOpenApi } from '../../support/lint-openapi.ts';

const serverUrl = 'https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/v1';
const json = openApiJson(openApiDocument({ serverUrl, environment: 'production' }));

/** What is wrong, the text that it replaces, the text that it is, and the rule that finds it. */
const faults = [
  ['a field that OpenAPI does not have', '"required":true', '"obligatory":true', 'struct'],
  ['a reference to nothing', 'schemas/Order"', 'schemas/Odor"', 'no-unresolved-refs'],
  ['an operation without a name', '"operationId":"getPet",', '', 'operation-operationId'],
  [
    'two operations with one name',
    '"operationId":"listInventory"',
    '"operationId":"listOrders"',
    'operation-operationId-unique',
  ],
  ['an operation without a mark', '"x-stability":"stable",', '', 'rule/stability'],
  [
    'a part of the path that is not declared',
    '{"$ref":"#/components/parameters/PetId"}',
    '',
    'path-parameters-defined',
  ],
  ['an example that its schema refuses', '{"quantity":7}', '{"quantity":"7"}', 'no-invalid-media-type-examples'],
  ['an operation without security', '"security":[{"apiKey":[]}],', '', 'security-defined'],
  ['a server without TLS', 'https://a1', 'http://a1', 'rule/server-tls'],
  ['an integer without bounds', ',"minimum":0,"maximum":2147483647', '', 'rule/integer-limit'],
  ['a list without bounds', ',"maxItems":50', '', 'rule/array-limit'],
  ['text of any length', ',"maxLength":2000', '', 'rule/string-limit'],
  ['text of any form', '"pattern":"^gzip$",', '', 'rule/string-form'],
  [
    'a 429 that does not say when to come back',
    '"Retry-After":{"$ref":"#/components/headers/Retry-After"}',
    '',
    'response-contains-header',
  ],
  ['an operation without a 401', '"401":{"$ref":"#/components/responses/Unauthorized"},', '', 'rule/error-statuses'],
  ['an error without examples', '"examples":{"FORBIDDEN"', '"example":{"FORBIDDEN"', 'rule/error-examples'],
  ['a part that nothing refers to', '{"$ref":"#/components/parameters/IfMatch"},', '', 'no-unused-components'],
] as const;

describe('Linting the OpenAPI document', () => {
  test('finds nothing but what is excepted for a reason, and no exception is idle', async () => {
    const findings = await lintOpenApi(json);

    expect(findings.filter((finding) => !exceptions.some((exception) => excuses(exception, finding)))).toEqual([]);
    expect(exceptions.filter((exception) => !findings.some((finding) => excuses(exception, finding)))).toEqual([]);
  });

  describe('catches', () => {
    let rules: Set<string>;

    beforeAll(async () => {
      const spoilt = faults.reduce((text, [, part, replacement]) => text.replaceAll(part, replacement), json);
      const findings = await lintOpenApi(spoilt.replaceAll(/,(?=[,\]}])|(?<=[[{]),/g, ''));
      const unexcused = findings.filter((finding) => !exceptions.some((exception) => excuses(exception, finding)));
      rules = new Set(unexcused.map(({ rule }) => rule));
    });

    test.each(faults)('%s', (_, part, __, rule) => {
      expect(json).toContain(part);
      expect(rules).toContain(rule);
    });
  });
});
