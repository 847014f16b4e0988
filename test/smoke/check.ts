import { ConnectionError } from '../../shared/client/pet-store-inventory-client.ts';
import { messageOf } from '../../shared/log.ts';
import type { Service } from './service.ts';

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
