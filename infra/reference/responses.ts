import { STATUS_CODES } from 'node:http';
import type { ExampleObject, ReferenceObject, ResponseObject } from 'openapi3-ts/oas31';
import { type ErrorCode, errorCatalog, ServiceError } from '../../shared/contract/errors.ts';
import { everyOperationErrors, type Operation, operations } from '../../shared/contract/operations.ts';
import { PAGES } from './guide.ts';
import { type HeaderComponent, headersOf } from './headers.ts';
import { errorSchema } from './schemas.ts';

/** Statuses that only the gateway returns, the same for all operations. */
const gatewayStatuses = new Set([401, 403, 502, 504]);

/** Headers of responses, by status. */
const ofStatus: Readonly<Record<number, readonly HeaderComponent[]>> = {
  401: ['WWW-Authenticate'],
  409: ['ETag'],
  412: ['ETag'],
  415: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const all: readonly Operation[] = Object.values(operations);
const ofOperations = new Set<ErrorCode>([...everyOperationErrors, ...all.flatMap(({ errors }) => errors)]);

/** The Error body of each code that an operation can return. */
export const errorExamples: Readonly<Record<string, ExampleObject>> = Object.fromEntries(
  [...ofOperations].map((code) => [code, { value: new ServiceError(code).body }]),
);

/** The error responses that are the same for all operations, by their names in the document. */
export const sharedResponses: Readonly<Record<string, ResponseObject>> = Object.fromEntries(
  [...byStatus(everyOperationErrors)]
    .filter(([status]) => gatewayStatuses.has(status))
    .map(([status, codes]) => [nameOf(status), errorResponse(status, codes)]),
);

/** The error responses of an operation by status. @param own headers of its function's responses */
export function errorResponses(
  { errors }: Operation,
  own: readonly HeaderComponent[],
): Record<string, ResponseObject | ReferenceObject> {
  const statuses = [...byStatus([...errors, ...everyOperationErrors])].toSorted(([a], [b]) => a - b);
  const responses = statuses.map(([status, codes]) => {
    const isShared = gatewayStatuses.has(status) && !codes.some((code) => errors.includes(code));
    return [
      status,
      isShared ? { $ref: `#/components/responses/${nameOf(status)}` } : errorResponse(status, codes, own),
    ];
  });
  return Object.fromEntries(responses);
}

function errorResponse(status: number, codes: readonly ErrorCode[], own: readonly HeaderComponent[] = []) {
  return {
    description: codes.map((code) => `- ${codeAndMessage(code)}`).join('\n'),
    headers: headersOf([...headersFor(status, codes), ...own, 'HelpPage']),
    content: {
      'application/json': {
        schema: errorSchema(status, codes),
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

function headersFor(status: number, codes: readonly ErrorCode[]): readonly HeaderComponent[] {
  return codes.includes('UPDATE_OUTCOME_UNKNOWN') ? ['RetryAfterIfSafe'] : (ofStatus[status] ?? []);
}

/** In Markdown, which would parse `<API_KEY>` as a tag. */
function codeAndMessage(code: ErrorCode): string {
  return `[\`${code}\`](${PAGES['errors.md']}#${code}): ${errorCatalog[code].message.replaceAll('<', '\\<')}`;
}

function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  return Map.groupBy(codes, (code) => errorCatalog[code].status);
}

function nameOf(status: number): string {
  return (STATUS_CODES[status] ?? String(status)).replaceAll(/[^A-Za-z]/g, '');
}
