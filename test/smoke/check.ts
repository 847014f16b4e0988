import { ConnectionError } from '../../shared/client/pet-store-inventory-client.ts';
import { errorCatalog, type ErrorCode } from '../../shared/contract/errors.ts';
import { messageOf } from '../../shared/log.ts';
import type { RequestParts, Service } from './service.ts';

/** One thing that a service must do. */
export interface Check {
  readonly name: string;
  /**
   * @returns what was seen, in a few words
   * @throws Error with what was expected and what was seen; NotApplicable where the check cannot be made
   */
  readonly run: (service: Service) => Promise<string>;
}

/** A check that cannot be made here, such as an update in a store without pets. */
export class NotApplicable extends Error {}

export function expectSame(what: string, seen: unknown, expected: unknown): void {
  if (seen !== expected) throw new Error(`${what} is ${shown(seen)}, not ${shown(expected)}`);
}

export function expectThat(condition: boolean, fault: string): asserts condition {
  if (!condition) throw new Error(fault);
}

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 120) ?? 'missing';

/** A request, and what its response must be. */
export interface Expectation {
  /** Method and path. */
  readonly request: string;
  readonly parts?: RequestParts;
  /** Of a refusal, with the status that the catalog has for it. */
  readonly code?: ErrorCode;
  /** By default 200. */
  readonly status?: number;
  /** Whole values, the empty one of a header that must be missing; or all texts that a value must contain. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: RegExp;
}

/** Of the value of a header, in characters: longer ones say nothing to a reader of the log. */
const MAX_SHOWN = 40;

export async function expectResponse(service: Service, expectation: Expectation): Promise<string> {
  const { request, parts, code, headers = {}, body } = expectation;
  const { status = code ? errorCatalog[code].status : 200 } = expectation;
  const [method = '', path = ''] = request.split(' ');
  const response = await service.send(method, path, parts);
  expectSame('the status', response.status, status);
  if (code) {
    expectSame('the code', JSON.parse(response.text).code, code);
    expectSame('the Content-Type', response.headers.get('Content-Type'), 'application/json');
  }
  expectThat(body?.test(response.text) ?? true, `the body is ${response.text.slice(0, 120)}`);
  const values = Object.entries(headers).flatMap(([header, expected]) => {
    const value = response.headers.get(header) ?? '';
    if (typeof expected === 'string') expectSame(header, value, expected);
    else
      expectThat(
        expected.every((part) => value.toLowerCase().includes(part.toLowerCase())),
        `${header} is ${value}`,
      );
    const isShort = value !== '' && value.length <= MAX_SHOWN;
    return isShort ? `${header}: ${value}` : [];
  });
  return [code === undefined ? String(status) : `${status} ${code}`, ...values].join(', ');
}

export const checksOf = (expectations: Readonly<Record<string, Expectation>>): Check[] =>
  Object.entries(expectations).map(([name, expected]) => ({
    name,
    run: (service) => expectResponse(service, expected),
  }));

export interface Result {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** What was seen, and for a failure the last request; or why the check could not be made. */
  readonly seen: string;
}

/** Makes the checks one after the other, up to the first request that gets no response. */
export async function* runChecks(service: Service, checks: readonly Check[]): AsyncGenerator<Result> {
  for (const { name, run } of checks) {
    try {
      yield { name, outcome: 'passed', seen: await run(service) };
    } catch (error) {
      const seen = messageOf(error);
      if (error instanceof NotApplicable) yield { name, outcome: 'skipped', seen };
      else yield { name, outcome: 'failed', seen: `${service.lastRequest}: ${seen}` };
      if (error instanceof ConnectionError && ['network', 'timeout'].includes(error.reason)) return;
    }
  }
}
