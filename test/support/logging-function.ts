import { setTimeout as sleep } from 'node:timers/promises';
import type { LambdaFunction } from '../../infra/local/lambda/lambda-function.ts';
import type { Deploy, TestFunctionSettings } from './test-functions.ts';

/** A function with what it has written to its log. */
export interface LoggingFunction {
  readonly lambda: LambdaFunction;
  readonly log: () => string;
  /** Waits until the log has the text. */
  readonly logs: (text: string) => Promise<void>;
}

export function deployLogging(deploy: Deploy, source: string, settings: TestFunctionSettings = {}): LoggingFunction {
  let log = '';
  const lambda = deploy(source, { ...settings, log: (text) => (log += text) });
  return {
    lambda,
    log: () => log,
    logs: async (text) => {
      while (!log.includes(text)) await sleep(5);
    },
  };
}
