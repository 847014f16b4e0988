import * as v from 'valibot';

const apiErrorSchema = v.looseObject({
  statusCode: v.number(),
  body: v.looseObject({
    __type: v.string(),
    message: v.optional(v.string()),
    Item: v.optional(v.record(v.string(), v.unknown())),
  }),
});

/** An error that the DynamoDB API answers with; dynalite's own errors have this shape too. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly statusCode = 400;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(type: string, message: string, more: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.body = { __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...more, message };
  }
}

/** Whether the API answers with this error, be it ours or dynalite's. */
export function isApiError(error: unknown): error is v.InferOutput<typeof apiErrorSchema> {
  return v.is(apiErrorSchema, error);
}
