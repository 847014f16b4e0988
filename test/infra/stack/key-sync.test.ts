import * as apiGateway from '@aws-sdk/client-api-gateway';
import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { resourcesOf, synthesizedStages, withoutHash } from '../../support/synthesized.ts';

const { staging } = synthesizedStages();

test('The sync follows each call that CloudTrail sees change a key, a usage plan or a tag', () => {
  const ruleSchema = v.looseObject({
    EventPattern: v.optional(v.object({ detail: v.object({ eventName: v.array(v.string()) }) })),
  });
  const followed = resourcesOf(staging, 'AWS::Events::Rule', ruleSchema).flatMap(
    ({ properties }) => properties.EventPattern?.detail.eventName ?? [],
  );
  const changing = Object.keys(apiGateway).flatMap((exported) => {
    const [, call = ''] = /^(.*(?:ApiKeys?|UsagePlan(?:Key)?|agResource))Command$/.exec(exported) ?? [];
    return call === '' || call.startsWith('Get') ? [] : [call];
  });

  expect(changing).toHaveLength(11);
  expect(followed.toSorted()).toEqual(changing.toSorted());
});

test('The queue shows no message again before Lambda has had six times the timeout of the sync, as it asks for', () => {
  const functions = resourcesOf(staging, 'AWS::Lambda::Function', v.object({ Timeout: v.number() }));
  const sync = functions.find(({ id }) => withoutHash(id) === 'KeySyncFunction');
  const queues = resourcesOf(staging, 'AWS::SQS::Queue', v.object({ VisibilityTimeout: v.optional(v.number()) }));
  const queue = queues.find(({ id }) => withoutHash(id) === 'KeySyncQueue');

  expect(queue?.properties.VisibilityTimeout).toBeGreaterThan(6 * (sync?.properties.Timeout ?? Number.NaN));
});
