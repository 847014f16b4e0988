import { createConfig, lintFromString } from '@redocly/openapi-core';
import { limitHeaders } from '../../shared/http/authorizer-context.ts';

/** Something that the linter says of a document. */
export interface Finding {
  readonly rule: string;
  /** Where, as a JSON pointer. A part that is used in several places is found once. */
  readonly pointer: string;
  readonly message: string;
}

type Exception = readonly [rule: string, where: RegExp, reason: string];

/** Rules that do not hold at some pointers, each with its reason. Whatever else the linter says is a fault. */
export const exceptions: readonly Exception[] = [
  ['info-license-url', /./, 'A license has either a URL or, as here, its SPDX identifier (OpenAPI 3.1 §4.8.4).'],
  ['path-segment-plural', /./, 'The paths are those of the specification (§4).'],
  ['operation-4xx-problem-details-rfc7807', /./, 'The shape of an error is that of the specification (§2).'],
  ['scalar-property-missing-example', /./, 'Every answer has a whole example, which shows each property.'],
  [
    'required-string-property-missing-min-length',
    /Status$|\/Error\/properties\/(?:code|message)$|\/KeyDetails\//,
    'A list of values bounds the length, and no client sends a message.',
  ],
  ['rule/array-limit', /\/(?:InventoryList|OrderList)$/, 'Without a limit these are the whole list, streamed.'],
  ['rule/integer-format', /\/allOf\/1\/properties\/status$/, 'The one status that an answer can have needs no format.'],
  ['rule/string-limit', /\/(?:shipDate|expiresAt|resetsAt)$/, 'The format bounds the length of a date and time.'],
  ['rule/string-limit', /\/Cursor\/schema$/, 'The pattern of a cursor bounds its length.'],
  ['array-parameter-serialization', /\/PetIds$/, 'What it leaves out is the default of OpenAPI.'],
  ['rule/string-form', /\/name$/, 'What people call a pet, a category or a tag is free text.'],
];

const everyAnswer = Object.keys(limitHeaders);
const error = { severity: 'error' } as const;

/** Beside the linter's own rules: those of OWASP's API Security Top 10 that a document can meet, and ours. */
const rules = {
  'response-contains-header': {
    ...error,
    names: { '2xx': everyAnswer, '4xx': everyAnswer, '5xx': everyAnswer, 429: ['Retry-After'], 503: ['Retry-After'] },
  },
  'rule/integer-format': wantsOfSchemas('integer', { required: ['format'] }),
  // An int64 is bounded by its format.
  'rule/integer-limit': wantsOfSchemas('int32', { required: ['minimum', 'maximum'] }, 'format'),
  'rule/array-limit': wantsOfSchemas('array', { required: ['maxItems'] }),
  'rule/string-limit': wantsOfSchemas('string', { requireAny: ['maxLength', 'enum', 'const'] }),
  'rule/string-form': wantsOfSchemas('string', { requireAny: ['pattern', 'format', 'enum', 'const'] }),
  'rule/server-tls': {
    ...error,
    subject: { type: 'Server', property: 'url' },
    assertions: { defined: true, pattern: '/^https:/' },
  },
  'rule/error-statuses': {
    ...error,
    subject: { type: 'Responses' },
    assertions: { required: ['400', '401', '429', '500'] },
  },
  'rule/error-examples': {
    ...error,
    where: [{ subject: { type: 'Response', matchParentKeys: '/^[45]/' }, assertions: {} }],
    subject: { type: 'MediaType' },
    assertions: { required: ['schema', 'examples'] },
  },
  'rule/stability': { ...error, subject: { type: 'Operation' }, assertions: { required: ['tags', 'x-stability'] } },
};

/** Lints an OpenAPI document, given as JSON, with all rules of the linter and with ours. */
export async function lintOpenApi(json: string): Promise<Finding[]> {
  const config = await createConfig({ extends: ['all'], rules });
  const problems = await lintFromString({ source: json, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, location: [place], message }) => ({
    rule: ruleId,
    pointer: place?.pointer ?? '',
    message,
  }));
}

/** Whether an exception is for a finding. */
export const excuses = ([rule, where]: Exception, finding: Finding): boolean =>
  rule === finding.rule && where.test(finding.pointer);

/** A rule about every schema of one type, or one format. */
function wantsOfSchemas(
  value: string,
  assertions: { readonly required?: string[]; readonly requireAny?: string[] },
  property = 'type',
) {
  return {
    ...error,
    where: [{ subject: { type: 'Schema', property }, assertions: { defined: true, const: value } }],
    subject: { type: 'Schema' },
    assertions,
  };
}
