import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { templatePlanOf } from '../../../../infra/local/issue-demo-keys.ts';
import { admission, admitting, CUSTOMER, denial, type LocalApi, LocalApis } from '../../../support/local-api.ts';
import { resourcesOf, synthesizedStages } from '../../../support/synthesized.ts';
import { answering } from '../../../support/test-functions.ts';

const { production } = synthesizedStages();
const apis = new LocalApis();

const filterSchema = v.looseObject({ FilterPattern: v.string() });
const [filter] = resourcesOf(production, 'AWS::Logs::MetricFilter', filterSchema);

const lineSchema = v.array(v.record(v.string(), v.string()));

/** Whether CloudWatch Logs would count the last line of an access log: the pattern with its comparisons worked out. */
async function isCounted(api: LocalApi): Promise<unknown> {
  const line = v.parse(lineSchema, api.accessLog()).at(-1) ?? {};
  const [, expression = ''] = /^\{(.*)\}$/.exec(filter?.properties.FilterPattern ?? '') ?? [];
  return runInNewContext(
    expression.replaceAll(/\$\.(\w+) = "(\w+)"/g, (_, field: string, value: string) => String(line[field] === value)),
  );
}

describe('the metric of what the gateway refuses', () => {
  const offPlans = { usageIdentifierKey: 'nobody' };
  const overLimit = { ...admission.context, outcome: 'RATE_LIMIT_EXCEEDED' };

  test.each([
    ['counts a refusal of an admitted request: its key is on no usage plan', { ...admission, ...offPlans }, true],
    ['does not count a request that is answered', admission, false],
    ['does not count a request that is denied', denial, false],
    ['does not count one that the limiter refused', { ...admission, context: overLimit, ...offPlans }, false],
  ])('%s', async (_, answer, expected) => {
    const api = apis.start({ authorizer: answering(answer) });
    await api.answer();

    expect(await isCounted(api)).toBe(expected);
  });

  test('counts a refusal of an admitted request: it is beyond the throttle of its usage plan', async () => {
    const api = apis.start({ authorizer: admitting });
    const burst = templatePlanOf(api.records, 'free')?.throttle?.burstLimit ?? 0;
    for (let request = 0; request < burst; request++) api.usageMeter.meter(CUSTOMER, Date.now());
    await api.answer();

    expect(await isCounted(api)).toBe(true);
  });
});
