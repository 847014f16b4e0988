import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { ServiceError } from '../contract/errors.ts';
import { limitSchema } from '../contract/list-query.ts';

/** What a client asked of a list. */
export interface ListQuery<Status extends string> {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly status: Status | undefined;
}

/** Digits as a number; anything else as it is, for the schema to refuse. */
const digits = v.pipe(
  v.string(),
  v.transform((text) => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN)),
);

/**
 * The query parameters of a list.
 *
 * @throws ServiceError INVALID_QUERY with a message that names each parameter that is wrong
 */
export function parseListQuery<Status extends string>(
  event: APIGatewayProxyEvent,
  status: v.GenericSchema<string, Status>,
): ListQuery<Status> {
  const schema = v.strictObject({
    limit: v.optional(v.pipe(digits, limitSchema)),
    cursor: v.optional(v.string()),
    status: v.optional(status),
  });
  const result = v.safeParse(schema, onlyValues(event));
  if (result.success) {
    const { limit, cursor, status: wanted } = result.output;
    return { limit, cursor, status: wanted };
  }
  throw new ServiceError('INVALID_QUERY', { message: [...new Set(result.issues.map(describe))].join(' ') });
}

function onlyValues({ multiValueQueryStringParameters }: APIGatewayProxyEvent): Record<string, string> {
  const parameters = Object.entries(multiValueQueryStringParameters ?? {});
  return Object.fromEntries(
    parameters.map(([name, [value = '', ...others] = []]) => {
      if (others.length === 0) return [name, value];
      throw new ServiceError('INVALID_QUERY', { message: `The parameter ${quoted(name)} is given more than once.` });
    }),
  );
}

function describe(issue: v.BaseIssue<unknown>): string {
  const name = quoted(v.getDotPath(issue) ?? '');
  return issue.expected === 'never' ? `The parameter ${name} is not known.` : `The parameter ${name} ${issue.message}.`;
}

/** Names are the caller's, so they are cut short. */
const quoted = (name: string): string => JSON.stringify(name.slice(0, 40));
