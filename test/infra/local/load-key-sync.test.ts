import { describe, expect, test } from '@jest/globals';
import { HostError } from '../../../infra/local/host-error.ts';
import { loadKeySync } from '../../../infra/local/load-key-sync.ts';
import { LocalStack } from '../../../infra/local/template/stack.ts';
import { type EditableTemplate, resourceOf, ServiceTemplate } from '../../support/service-template.ts';
import { answering, testFunctions } from '../../support/test-functions.ts';

const RULE = 'AWS::Events::Rule';
const QUEUE = 'AWS::SQS::Queue';
const SOURCE = 'AWS::Lambda::EventSourceMapping';

const service = new ServiceTemplate();
const lambda = testFunctions()(answering(null));

function load(change: (template: EditableTemplate) => unknown) {
  const stack = new LocalStack(
    service.stackName,
    service.with((template) => void change(template)),
  );
  const arns = stack.resources('AWS::Lambda::Alias').map(({ ref }) => ref);
  return loadKeySync(stack, new Map(arns.map((arn) => [arn, lambda])), () => undefined);
}

const set = (type: string, id: string, properties: object) => (template: EditableTemplate) =>
  Object.assign(resourceOf(template, type, id)[1].Properties, properties);
const more = (type: string, properties: object) => (template: EditableTemplate) =>
  (template.Resources.More = { Type: type, Properties: { ...properties } });
const remove = (type: string, id: string) => (template: EditableTemplate) =>
  delete template.Resources[resourceOf(template, type, id)[0]];

const changes = { EventPattern: { source: ['aws.apigateway'] } };

describe('the sync of keys in a template', () => {
  test('is recognised as it is deployed', () => {
    expect(() => load(() => undefined).close()).not.toThrow();
  });

  test.each<[what: string, change: (template: EditableTemplate) => unknown, message: RegExp]>([
    ['no schedule', remove(RULE, 'KeySyncSchedule'), /exactly one schedule; this one has 0$/],
    ['no rule for changes', remove(RULE, 'KeySyncChanges'), /exactly one rule for changes; this one has 0$/],
    ['no event source', remove(SOURCE, 'KeySync'), /exactly one event source; this one has 0$/],
    ['a cron', set(RULE, 'KeySyncSchedule', { ScheduleExpression: 'cron(0 12 * * ? *)' }), /no schedule but a rate/],
    ['a rate of nothing', set(RULE, 'KeySyncSchedule', { ScheduleExpression: 'rate(0 minutes)' }), /but a rate/],
    ['a rule that is off', set(RULE, 'KeySyncSchedule', { State: 'DISABLED' }), /property State/],
    ['events of others', set(RULE, 'KeySyncChanges', { EventPattern: { source: ['aws.s3'] } }), /EventPattern\.source/],
    ['another bus', set(RULE, 'KeySyncChanges', { EventBusName: 'mine' }), /property EventBusName/],
    ['an input', set(RULE, 'KeySyncChanges', { Targets: [{ Arn: 'a', Id: 'b', Input: '{}' }] }), /Targets\.0\.Input/],
    [
      'another target',
      more(RULE, { ...changes, Targets: [{ Arn: 'arn:x', Id: 'T' }] }),
      /^Resource More: .* no target/,
    ],
    ['another queue', more(QUEUE, {}), /^Resource More: .* no queue but that of the sync$/],
    ['a FIFO queue', set(QUEUE, 'KeySyncQueue', { FifoQueue: true }), /property FifoQueue/],
    ['a queue of another stack', set(SOURCE, 'KeySync', { EventSourceArn: 'arn:x' }), /no queue arn:x$/],
    ['a function of another stack', set(SOURCE, 'KeySync', { FunctionName: 'other' }), /no function other$/],
    ['a filter', set(SOURCE, 'KeySync', { FilterCriteria: {} }), /property FilterCriteria/],
    ['an event source that is off', set(SOURCE, 'KeySync', { Enabled: false }), /property Enabled/],
  ])('stops the local host with %s', (_, change, message) => {
    expect(() => load(change)).toThrow(HostError);
    expect(() => load(change)).toThrow(message);
  });
});
