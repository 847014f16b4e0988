import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { usagePlanOf } from '../../../../infra/local/issue-demo-keys.ts';
import { admission, admitting, CUSTOMER, denial } from '../../../support/local-api.ts';
import { type LocalApi, LocalApis } from '../../../support/local-api.ts';
import { resourcesOf, synthesizedStages } from '../../../support/synthesized.ts';
import { answering } from '../../../support/test-functions.ts';

const { production } = synthesizedStages();
const apis = new LocalApis();

const filterSchema = v.looseObject({
  FilterPattern: v.string(),
  MetricTransformations: v.tuple([v.record(v.string(), v.string())]),
});
const [filter] = resourcesOf(production, 'AWS::Logs::MetricFilter', filterSchema).map(({ properties }) => properties);

const lineSchema = v.array(v.record(v.string(), v.string()));

/** Whether CloudWatch Logs would count the last line of an access log: the pattern with its comparisons worked out. */
async function isCounted(api: LocalApi): Promise<unknown> {
  const line = v.parse(lineSchema, await api.accessLog()).at(-1) ?? {};
  const [, expression = ''] = /^\{(.*)\}$/.exec(filter?.FilterPattern ?? '') ?? [];
  return runInNewContext(
    expression.replaceAll(/\$\.(\w+) = "(\w+)"/g, (_, field: string, value: string) => String(line[field] === value)),
  );
}

describe('the metric of what the gateway refuses', () => {
  test('counts a refusal of an admitted request: its key is on no usage plan', async () => {
    const api = apis.start({ authorizer: answering({ ...admission, usageIdentifierKey: 'nobody' }) });
    await api.answer();

    expect(await isCounted(api)).toBe(true);
  });

  test('counts a refusal of an admitted request: it is beyond the throttle of its usage plan', async () => {
    const api = apis.start({ authorizer: admitting });
    const burst = usagePlanOf(api.records, 'free')?.throttle?.burstLimit ?? 0;
    for (let request = 0; request < burst; request++) api.usageMeter.meter(CUSTOMER, Date.now());
    await api.answer();

    expect(await isCounted(api)).toBe(true);
  });

  const overLimit = { ...admission.context, outcome: 'RATE_LIMIT_EXCEEDED' };
  test.each([
    ['is answered', admitting],
    ['is denied', answering(denial)],
    ['the limiter refused', answering({ ...admission, context: overLimit, usageIdentifierKey: 'nobody' })],
  ])('does not count a request that %s', async (_, authorizer) => {
    const api = apis.start({ authorizer });
    await api.answer();

    expect(await isCounted(api)).toBe(false);
  });

  test('is there only when it counts: a metric that is always zero is paid for too', () => {
    expect(filter?.MetricTransformations[0]).toEqual({
      MetricName: 'production-Inventory-GatewayRefusals',
      MetricNamespace: 'PetStoreInventory',
      MetricValue: '1',
    });
  });
});
