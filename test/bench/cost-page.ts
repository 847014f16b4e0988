import * as v from 'valibot';
import { stageNames, stages } from '../../infra/stages.ts';
import { type ExactLimits, type PlanId, planIds, plans } from '../../shared/keys/plans.ts';
import { inventoryTemplate, propertiesIn } from '../support/service-template.ts';
import { format } from './figure.ts';
import { formatted, pageAt, tableOf, withRows } from './pages.ts';

/** What a request takes is measured, the prices are AWS's, and what both come to stands on the page of costs. */
export const pages = {
  numbers: pageAt('numbers.md'),
  costs: pageAt('operating/costs.md'),
  security: pageAt('operating/security.md'),
};

const prices = tableOf(pages.costs.text, 'price of');

export function priceOf(what: string): number {
  const [usd] = prices.get(what) ?? [];
  if (usd === undefined) throw new Error(`docs/operating/costs.md has no price of ${what}`);
  return usd;
}

const production = inventoryTemplate('production');
const memorySizes = propertiesIn(production, 'AWS::Lambda::Function').map(({ MemorySize }) => Number(MemorySize ?? 0));
const [sampling] = propertiesIn(production, 'AWS::XRay::SamplingRule');

/** Memory of a function of requests, in GB, and the share of the requests that X-Ray records. */
const MEMORY_GB = Math.max(...memorySizes) / 1_024;
const TRACED_SHARE = v.parse(v.object({ SamplingRule: v.object({ FixedRate: v.number() }) }), sampling).SamplingRule
  .FixedRate;

/** What a request takes, the mean of many. */
export interface RequestUsage {
  /** DynamoDB capacity, of the authorizer and of the operation together. */
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Functions that run for it: the authorizer, and the one behind it. */
  readonly invocations: number;
  /** Milliseconds that Lambda bills for all of them. */
  readonly billedMs: number;
  /** All lines that it leaves in the logs, in bytes. */
  readonly logBytes: number;
  /** Headers and body of the response, in bytes. */
  readonly responseBytes: number;
}

const MILLION = 1_000_000;
/** Of a streamed response, for one billed request. */
const BYTES_PER_REQUEST = 10 * 1024 * 1024;

/** What a million requests cost on production in USD, without monthly prices. @param taken by one: RequestUsage */
function costPerMillion(taken: readonly number[]) {
  const [writeUnits = NaN, readUnits = NaN, invocations = NaN, billedMs = NaN, logBytes = NaN, responseBytes = NaN] =
    taken;
  const gbSeconds = (billedMs / 1_000) * MEMORY_GB * MILLION;
  const gigabytes = (bytes: number): number => (bytes * MILLION) / 1e9;
  return {
    gateway: priceOf('a million requests') * Math.max(1, Math.ceil(responseBytes / BYTES_PER_REQUEST)),
    lambda: priceOf('a million invocations') * invocations + priceOf('a GB-second') * gbSeconds,
    dynamodb: priceOf('a million writes') * writeUnits + priceOf('a million reads') * readUnits,
    logs: priceOf('a GB of logs') * gigabytes(logBytes),
    tracing: priceOf('a million traces') * TRACED_SHARE,
    firewall: priceOf('a million requests through the firewall'),
    traffic: priceOf('a GB to the internet') * gigabytes(responseBytes),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const totalOf = (costs: Readonly<Record<string, number>>): number => sum(Object.values(costs));

const listed = v.optional(v.array(v.looseObject({})), []);

/** What a stage has that costs by the month: alarm metrics, dashboards, web ACLs and rules. */
function monthlyOf(name: string): number[] | undefined {
  const stage = stageNames.find((each) => each === name);
  if (!stage) return undefined;
  const all = (type: string) => propertiesIn(inventoryTemplate(stage), type);
  const metrics = all('AWS::CloudWatch::Alarm').map(
    ({ Metrics }) => v.parse(listed, Metrics).filter((one) => 'MetricStat' in one).length || 1,
  );
  const rules = all('AWS::WAFv2::WebACL').map(({ Rules }) => v.parse(listed, Rules).length);
  return [sum(metrics), all('AWS::CloudWatch::Dashboard').length, rules.length, sum(rules)];
}

const monthlyPrices = ['an alarm metric', 'a dashboard', 'a web ACL', 'a rule'];

const requestMix = { update: 0.5, 'one pet': 0.3, 'page of 100 pets': 0.2 };

/** The limits of a plan; of Enterprise, what a customer might have agreed: the most that staging accepts. */
function limitsOf(plan: PlanId): ExactLimits {
  const { limits } = plans[plan];
  return limits === 'agreed' ? stages.staging.maxEnterpriseLimits : limits;
}

const requestsInMonth = (plan: PlanId): number => 30 * limitsOf(plan).perDay;

const inUSD = (value: number): string =>
  value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/**
 * The pages of costs and of attacks as they follow from the prices and from what a request takes.
 *
 * @param numbers the page that has the latter
 * @throws Error where they state the cost of a request that was not measured
 */
export async function derivedPages(numbers: string) {
  const millions = new Map([...tableOf(numbers, 'request')].map(([name, cells]) => [name, costPerMillion(cells)]));
  const million = (name: string): Readonly<Record<string, number>> => {
    const parts = millions.get(name);
    if (!parts) throw new Error(`docs/numbers.md has no resource usage of ${name}`);
    return parts;
  };
  const mix = sum(Object.entries(requestMix).map(([name, share]) => totalOf(million(name)) * share));
  const { costs, security } = pages;
  const ofRequests = withRows(costs.text, 'per million', (name) => {
    const parts = million(name);
    return [...Object.values(parts).map(inUSD), `**${inUSD(totalOf(parts))}**`];
  });
  const ofPlans = withRows(ofRequests, 'plan', (title) => {
    const count = requestsInMonth(planIds.find((id) => plans[id].title === title) ?? 'free');
    return [inUSD(mix), format(count), inUSD((mix * count) / 1_000_000)];
  });
  const stated = tableOf(costs.text, 'stage');
  const ofStages = withRows(ofPlans, 'stage', (name) => {
    const counts = monthlyOf(name) ?? stated.get(name)?.slice(0, -1) ?? [];
    const idle = sum(counts.map((count, index) => count * priceOf(`${monthlyPrices[index]} per month`)));
    return [...counts.map(String), `**${inUSD(idle + priceOf('the key sync per month'))}**`];
  });
  return {
    costs: await formatted(costs.file, ofStages),
    security: await formatted(
      security.file,
      withProducts(security.text, (name) => totalOf(million(name))),
    ),
  };
}

/** The page of attacks with what a million cost now, where it computes with what a million cost before. */
function withProducts(page: string, totalNow: (name: string) => number): string {
  const before = new Map([...tableOf(pages.costs.text, 'per million')].map(([name, cells]) => [cells.at(-1), name]));
  return page.replaceAll(
    /[\d.,]+( per (?:hour|day)[^:|\n]*: )([\d,]+)( million)? × (\d+\.\d\d)(?!\d)/g,
    (_, what: string, count: string, unit = '', stated: string) => {
      const name = before.get(Number(stated));
      if (name === undefined) throw new Error(`docs/operating/costs.md has no ${stated} per million`);
      const now = inUSD(totalNow(name));
      const requests = Number(count.replaceAll(',', '')) / (unit === '' ? 1_000_000 : 1);
      return `${inUSD(requests * Number(now))}${what}${count}${unit} × ${now}`;
    },
  );
}
