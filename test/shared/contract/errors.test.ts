import { describe, expect, test } from '@jest/globals';
import {
  type ErrorCode,
  errorCatalogue,
  type ErrorDefinition,
  ServiceError,
  serviceErrorOf,
} from '../../../shared/contract/errors.ts';

const entries: [string, ErrorDefinition][] = Object.entries(errorCatalogue);

const statuses: [ErrorCode, number][] = [
  ['BAD_REQUEST', 400],
  ['INVALID_PET_ID', 400],
  ['INVALID_QUERY', 400],
  ['INVALID_CURSOR', 400],
  ['INVALID_HEADER', 400],
  ['INVALID_BODY', 400],
  ['API_KEY_MISSING', 401],
  ['API_KEY_INVALID', 401],
  ['FORBIDDEN', 403],
  ['PET_NOT_FOUND', 404],
  ['ROUTE_NOT_FOUND', 404],
  ['METHOD_NOT_ALLOWED', 405],
  ['PRECONDITION_FAILED', 412],
  ['PAYLOAD_TOO_LARGE', 413],
  ['UNSUPPORTED_MEDIA_TYPE', 415],
  ['IDEMPOTENCY_KEY_REUSED', 422],
  ['RATE_LIMIT_EXCEEDED', 429],
  ['DAILY_QUOTA_EXCEEDED', 429],
  ['API_KEY_SUSPENDED', 429],
  ['INTERNAL_ERROR', 500],
  ['BAD_GATEWAY', 502],
  ['SERVICE_UNAVAILABLE', 503],
  ['GATEWAY_TIMEOUT', 504],
];

describe('the error catalogue (spec §7)', () => {
  test.each(statuses)('%s is answered with %d', (code, status) => {
    expect(new ServiceError(code).status).toBe(status);
  });

  test('has no other code', () => {
    expect(Object.keys(errorCatalogue)).toEqual(statuses.map(([code]) => code));
  });

  test.each(entries)('%s is UPPER_SNAKE and says in a sentence what happened', (code, definition) => {
    expect(code).toMatch(/^[A-Z]+(?:_[A-Z]+)*$/);
    expect(definition.message).toMatch(/^(?:[A-Z]|petId).*[.>]$/);
  });
});

describe('the Error body (spec §2)', () => {
  test('has exactly code, message and status', () => {
    expect(JSON.stringify(new ServiceError('PET_NOT_FOUND').body)).toBe(
      '{"code":"PET_NOT_FOUND","message":"There is no such pet.","status":404}',
    );
  });

  test('takes a more exact message', () => {
    expect(new ServiceError('INVALID_BODY', { message: 'The field "quantity" is missing.' }).body).toEqual({
      code: 'INVALID_BODY',
      message: 'The field "quantity" is missing.',
      status: 400,
    });
  });

  test('says nothing of the cause', () => {
    const error = new ServiceError('INTERNAL_ERROR', { cause: new Error('secret table name') });

    expect(JSON.stringify(error.body)).not.toContain('secret');
    expect(error.cause).toEqual(new Error('secret table name'));
  });
});

describe('what a failure is answered with', () => {
  test('is the error itself, where it is an answer', () => {
    const error = new ServiceError('PET_NOT_FOUND');

    expect(serviceErrorOf(error)).toBe(error);
  });

  test.each([
    ['an Error', new Error('secret')],
    ['text', 'secret'],
    ['nothing', undefined],
    ['null', null],
  ])('is INTERNAL_ERROR else, and says nothing of it: %s', (_, thrown) => {
    const error = serviceErrorOf(thrown);

    expect(error.code).toBe('INTERNAL_ERROR');
    expect(JSON.stringify(error.body)).not.toContain('secret');
    expect(error.cause).toBe(thrown ?? undefined);
  });
});
