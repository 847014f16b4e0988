import { ConnectionError } from '../../shared/client/pet-store-inventory-client.ts';
import type { Check } from './check.ts';
import { NotApplicable } from './not-applicable.ts';
import type { Service } from './service.ts';

/** How a check came out. */
export interface Result {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** What was seen, or why the check could not be made. */
  readonly seen: string;
}

/** Makes the checks one after the other. Where nothing answers at all, it leaves it at that. */
export async function* runChecks(service: Service, checks: readonly Check[]): AsyncGenerator<Result> {
  for (const check of checks) {
    const { name } = check;
    try {
      yield { name, outcome: 'passed', seen: await check.run(service) };
    } catch (error) {
      const seen = error instanceof Error ? error.message : String(error);
      yield { name, outcome: error instanceof NotApplicable ? 'skipped' : 'failed', seen };
      if (error instanceof ConnectionError && error.reason === 'network') return;
    }
  }
}
