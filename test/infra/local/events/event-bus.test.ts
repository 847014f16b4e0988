import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { EventBus, type Rule } from '../../../../infra/local/events/event-bus.ts';

let delivered: unknown[];

beforeEach(() => {
  delivered = [];
});

const collect = { deliver: (event: string) => void delivered.push(JSON.parse(event)) };
const rule = (differences: Partial<Rule>): Rule => ({
  arn: 'arn:of-the-rule',
  pattern: undefined,
  periodMs: undefined,
  targets: [collect],
  ...differences,
});

const published = { source: 'aws.apigateway', detailType: 'A Change', detail: { eventName: 'CreateApiKey' } };

describe('an event that is published', () => {
  test('comes to the targets of a rule that it matches, as EventBridge sends it', () => {
    new EventBus([rule({ pattern: { source: ['aws.apigateway'] } })]).publish(published);

    expect(delivered).toEqual([
      {
        version: '0',
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        'detail-type': 'A Change',
        source: 'aws.apigateway',
        account: '000000000000',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        region: 'us-east-1',
        resources: [],
        detail: { eventName: 'CreateApiKey' },
      },
    ]);
  });

  test('is matched by what EventBridge adds too', () => {
    new EventBus([rule({ pattern: { 'detail-type': ['A Change'], account: ['000000000000'] } })]).publish(published);

    expect(delivered).toHaveLength(1);
  });

  test('comes to every target of every rule that it matches, and to no other', () => {
    const matching = rule({ pattern: { source: ['aws.apigateway'] }, targets: [collect, collect] });
    const other = rule({ pattern: { source: ['aws.ec2'] } });
    new EventBus([matching, other, rule({ periodMs: 1_000 }), matching]).publish(published);

    expect(delivered).toHaveLength(4);
  });
});

describe('a rule with a schedule', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  test('makes an event of its own each period, from one period after the start', () => {
    const bus = new EventBus([rule({ periodMs: 300_000 })]);
    bus.startSchedules();
    jest.advanceTimersByTime(299_999);
    expect(delivered).toEqual([]);
    jest.advanceTimersByTime(300_001);
    bus.close();

    expect(delivered).toHaveLength(2);
    expect(delivered[0]).toMatchObject({
      source: 'aws.events',
      'detail-type': 'Scheduled Event',
      resources: ['arn:of-the-rule'],
      detail: {},
    });
  });

  test('makes none before it is started and after it is closed', () => {
    const bus = new EventBus([rule({ periodMs: 1_000 })]);
    jest.advanceTimersByTime(10_000);
    bus.startSchedules();
    bus.close();
    jest.advanceTimersByTime(10_000);

    expect(delivered).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
