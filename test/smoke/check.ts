import type { Service } from './service.ts';

/** One thing that a service must do. */
export interface Check {
  readonly name: string;
  /**
   * Tries it out.
   *
   * @returns what was seen, in a few words
   * @throws Mismatch where it is otherwise; NotApplicable where the service gives no occasion for it
   */
  run(service: Service): Promise<string>;
}
