import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Events, loadEvents } from '../../../../infra/local/events/load-events.ts';
import { HostError } from '../../../../infra/local/host-error.ts';
import { LocalStack } from '../../../../infra/local/template/stack.ts';
import { testFunctions } from '../../../support/test-functions.ts';

type Resources = Readonly<Record<string, object>>;

const deploy = testFunctions();

const noEffect = { SqsManagedSseEnabled: true, RedriveAllowPolicy: {} };
const attribute = (name: string, of = 'Arn') => ({ 'Fn::GetAtt': [name, of] });
const queue = (settings: object = {}) => ({ Type: 'AWS::SQS::Queue', Properties: { ...noEffect, ...settings } });
const rule = (settings: object) => ({ Type: 'AWS::Events::Rule', Properties: { State: 'ENABLED', ...settings } });
const mapping = (settings: object = {}) => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: { EventSourceArn: attribute('Queue'), FunctionName: 'test-Sync', ...settings },
});

const onChange = { EventPattern: { source: ['aws.apigateway'] } };
const toQueue = [{ Arn: attribute('Queue'), Id: 'Target0' }];

const resources = {
  Queue: queue({
    VisibilityTimeout: 60,
    RedrivePolicy: { deadLetterTargetArn: attribute('Failed'), maxReceiveCount: 3 },
  }),
  Failed: queue({ MessageRetentionPeriod: 1_209_600 }),
  QueuePolicy: { Type: 'AWS::SQS::QueuePolicy', Properties: { PolicyDocument: {}, Queues: [{ Ref: 'Queue' }] } },
  Changes: rule({ ...onChange, Targets: toQueue }),
  Schedule: rule({ ScheduleExpression: 'rate(5 minutes)', Targets: toQueue }),
  Mapping: mapping({ BatchSize: 1_000, MaximumBatchingWindowInSeconds: 0, ScalingConfig: { MaximumConcurrency: 2 } }),
};

const change = { source: 'aws.apigateway', detailType: 'A Change', detail: {} };

describe('the events of a template', () => {
  let events: Events | undefined;
  let lines: string[];

  afterEach(() => events?.close());

  /** @param source of the function `Sync` */
  function load(
    template: Resources,
    source = 'exports.handler = async (event) => console.log(JSON.stringify(event));',
  ) {
    lines = [];
    const functionArn = 'arn:aws:lambda:us-east-1:000000000000:function:test-Sync';
    const sync = deploy(source, { functionArn, log: (text) => lines.push(String(text)) });
    const stack = new LocalStack('test', { Resources: template });
    events = loadEvents(stack, new Map([[functionArn, sync]]), (text) => lines.push(String(text)));
    return events;
  }

  async function logged(text: string): Promise<string> {
    const deadline = performance.now() + 10_000;
    while (!lines.join('').includes(text) && performance.now() < deadline) await sleep(20);
    return lines.join('');
  }

  test('come from a rule over a queue to the function', async () => {
    load(resources).bus.publish(change);

    expect(await logged('Records')).toMatch(
      /"eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:us-east-1:000000000000:test-Queue"/,
    );
  });

  test('come from a rule straight to the function', async () => {
    load({
      Changes: rule({
        ...onChange,
        Targets: [{ Arn: 'arn:aws:lambda:us-east-1:000000000000:function:test-Sync', Id: 'T' }],
      }),
    });
    events?.bus.publish(change);

    expect(await logged('A Change')).toContain('"detail-type":"A Change"');
  });

  test('that a function fails on are told in the log', async () => {
    load(resources, 'exports.handler = async () => { throw new Error("no"); };').bus.publish(change);

    expect(await logged('test-Sync failed on 1 messages')).toMatch(
      /\d{4}-\d\d-\d\dT[\d:.]+Z test-Sync failed on 1 messages of test-Queue: FunctionError: Error: no\n/,
    );
  });

  test.each([
    [
      'a rule that is disabled',
      { ...resources, Changes: rule({ ...onChange, State: 'DISABLED', Targets: toQueue }) },
      0,
    ],
    ['a mapping that is disabled', { ...resources, Mapping: mapping({ Enabled: false }) }, 1],
    ['no mapping', { Queue: queue(), Changes: resources.Changes }, 1],
  ])('stay where they are with %s', async (_, template, waiting) => {
    const { bus, queues } = load(template);
    bus.publish(change);
    await sleep(50);

    expect(queues.get('arn:aws:sqs:us-east-1:000000000000:test-Queue')?.visibleCount).toBe(waiting);
  });

  test('stop the local host where there is no such target', () => {
    const template = { Changes: rule({ ...onChange, Targets: [{ Arn: 'arn:of-another-stack', Id: 'T' }] }) };

    expect(() => load(template)).toThrow(
      new HostError('Resource Changes: the local host knows no target arn:of-another-stack'),
    );
  });

  test.each([
    [
      'a cron expression',
      { Schedule: rule({ ScheduleExpression: 'cron(0 12 * * ? *)' }) },
      /^Resource Schedule .*cron/,
    ],
    [
      'a prefix',
      { Changes: rule({ EventPattern: { source: [{ prefix: 'aws' }] } }) },
      /^Resource Changes .*EventPattern\.source: /,
    ],
    [
      'another bus',
      { Changes: rule({ ...onChange, EventBusName: 'mine' }) },
      /^Resource Changes .*property EventBusName/,
    ],
    [
      'an input of its own',
      { Changes: rule({ Targets: [{ Arn: 'a', Id: 'b', Input: '{}' }] }) },
      /property Targets\.0\.Input/,
    ],
    ['a FIFO queue', { Queue: queue({ FifoQueue: true }) }, /^Resource Queue .*property FifoQueue/],
    ['a delay', { Queue: queue({ DelaySeconds: 5 }) }, /^Resource Queue .*property DelaySeconds/],
    [
      'a queue of another stack',
      { Mapping: mapping({ EventSourceArn: 'arn:x' }) },
      /^Resource Mapping: .*no queue arn:x/,
    ],
    ['a function of another stack', { Queue: queue(), Mapping: mapping({ FunctionName: 'x' }) }, /no function x/],
    [
      'reports of single messages',
      { Mapping: mapping({ FunctionResponseTypes: ['ReportBatchItemFailures'] }) },
      /FunctionResponseTypes/,
    ],
    ['a filter', { Mapping: mapping({ FilterCriteria: {} }) }, /FilterCriteria/],
    [
      'a dead-letter queue of another stack',
      { Queue: queue({ RedrivePolicy: { deadLetterTargetArn: 'arn:x', maxReceiveCount: 1 } }) },
      /no dead-letter queue arn:x/,
    ],
    [
      'a queue that is its own dead-letter queue',
      {
        Queue: queue({
          RedrivePolicy: { deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:test-Queue', maxReceiveCount: 1 },
        }),
      },
      /no dead-letter queue/,
    ],
  ])('stop the local host: %s', (_, template, message) => {
    const withQueue: Resources = { Queue: queue(), ...template };
    expect(() => load(withQueue)).toThrow(HostError);
    expect(() => load(withQueue)).toThrow(message);
  });
});

describe('what a template says of a queue and a rule', () => {
  const stack = new LocalStack('test', {
    Resources: resources,
    Outputs: { Url: { Value: { Ref: 'Queue' } }, Rule: { Value: { Ref: 'Changes' } } },
  });

  test('is their name, their address and their ARN', () => {
    expect(stack.outputs).toEqual({
      Url: 'https://sqs.us-east-1.amazonaws.com/000000000000/test-Queue',
      Rule: 'test-Changes',
    });
    expect(stack.attribute('Queue', 'Arn')).toBe('arn:aws:sqs:us-east-1:000000000000:test-Queue');
    expect(stack.attribute('Queue', 'QueueName')).toBe('test-Queue');
    expect(stack.attribute('Changes', 'Arn')).toBe('arn:aws:events:us-east-1:000000000000:rule/test-Changes');
  });
});
