import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { HostError } from '../../../infra/local/host-error.ts';
import { loadSyncSchedule, SyncSchedule } from '../../../infra/local/sync-schedule.ts';
import { ServedStack } from '../../../infra/local/template/stack.ts';
import { type EditableTemplate, resourceOf, ServiceTemplate } from '../../support/service-template.ts';
import { answering, testFunctions } from './test-functions.ts';

const INTERVAL_MS = 300_000;
const WAIT_MS = 1_000;

const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

describe('the sync of keys', () => {
  const log = jest.fn();
  const sync = { invoke: jest.fn<(event: string) => Promise<string>>() };
  let schedule: SyncSchedule;

  beforeEach(() => {
    jest.useFakeTimers();
    jest.resetAllMocks();
    sync.invoke.mockResolvedValue('null');
    schedule = new SyncSchedule({ sync, intervalMs: INTERVAL_MS, waitMs: WAIT_MS, log });
  });

  afterEach(() => {
    schedule.close();
    jest.useRealTimers();
  });

  test('runs once an interval', async () => {
    await pass(INTERVAL_MS);
    expect(sync.invoke).not.toHaveBeenCalled();
    await pass(WAIT_MS + 3 * INTERVAL_MS);

    expect(sync.invoke.mock.calls).toEqual(Array.from({ length: 4 }, () => ['{"Records":[]}']));
  });

  test('runs one at a time, and once more for what changes meanwhile', async () => {
    const first = Promise.withResolvers<string>();
    sync.invoke.mockReturnValueOnce(first.promise);
    schedule.runSoon();
    await pass(WAIT_MS);
    schedule.runSoon();
    schedule.runSoon();
    await pass(10 * WAIT_MS);
    expect(sync.invoke).toHaveBeenCalledTimes(1);
    first.resolve('null');
    await pass(0);

    expect(sync.invoke).toHaveBeenCalledTimes(2);
  });

  test('that fails is logged, and the next one runs', async () => {
    sync.invoke.mockRejectedValue(new Error('no'));
    for (let count = 0; count < 2; count++) {
      schedule.runSoon();
      await pass(WAIT_MS);
    }

    expect(log.mock.calls).toEqual(Array.from({ length: 2 }, () => ['The sync of keys failed: Error: no\n']));
  });
});

const RULE = 'AWS::Events::Rule';
const SOURCE = 'AWS::Lambda::EventSourceMapping';

const service = new ServiceTemplate();
const lambda = testFunctions()(answering(null));

function load(change: (template: EditableTemplate) => unknown) {
  const template = service.with((original) => void change(original));
  const stack = new ServedStack(service.stackName, template);
  const arns = stack.resources('AWS::Lambda::Alias').map(({ ref }) => ref);
  return loadSyncSchedule(stack, new Map(arns.map((arn) => [arn, lambda])), () => undefined);
}

const set = (type: string, id: string, properties: object) => (template: EditableTemplate) =>
  Object.assign(resourceOf(template, type, id)[1].Properties, properties);
const remove = (type: string, id: string) => (template: EditableTemplate) =>
  delete template.Resources[resourceOf(template, type, id)[0]];

describe('the sync of keys in a template', () => {
  test.each<[what: string, change: (template: EditableTemplate) => unknown, message: RegExp]>([
    ['no schedule', remove(RULE, 'KeySyncSchedule'), /no schedule but rate/],
    ['a cron', set(RULE, 'KeySyncSchedule', { ScheduleExpression: 'cron(0 12 * * ? *)' }), /no schedule but rate/],
    ['a function of another stack', set(SOURCE, 'KeySync', { FunctionName: 'other' }), /no function other$/],
  ])('stops the local host with %s', (_, change, message) => {
    expect(() => load(change)).toThrow(HostError);
    expect(() => load(change)).toThrow(message);
  });
});
