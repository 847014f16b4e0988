import { readFileSync } from 'node:fs';
import path from 'node:path';
import { stages } from '../../infra/stages.ts';
import { type Limits, type PlanId, plans } from '../../shared/keys/plans.ts';

function pageAt(name: string) {
  const file = path.join(import.meta.dirname, '../../docs', name);
  return { file, text: readFileSync(file, 'utf8') };
}

/** What a request takes is measured, the prices are AWS's, and what both come to stands on the page of costs. */
export const pages = {
  numbers: pageAt('numbers.md'),
  costs: pageAt('operating/costs.md'),
  security: pageAt('operating/security.md'),
};

const numberOf = (cell: string): number => Number(cell.replaceAll(/[*,]/g, ''));

/** The rows of the table of a page whose first column is called so: a name each, and the numbers after it. */
export function tableOf(page: string, head: string): Map<string, number[]> {
  const [, table = ''] = new RegExp(String.raw`^\| ${head} +\|.*\n.*\n((?:\|.*\n)+)`, 'm').exec(page) ?? [];
  const rows = table.trim().split('\n');
  const cells = rows.map((line) => line.split('|').map((cell) => cell.trim()));
  return new Map(cells.map(([, name = '', ...numbers]) => [name, numbers.slice(0, -1).map(numberOf)]));
}

const prices = tableOf(pages.costs.text, 'price of');

/** @throws Error where the page has no such price */
export function priceOf(what: string): number {
  const [usd] = prices.get(what) ?? [];
  if (usd === undefined) throw new Error(`docs/operating/costs.md has no price of ${what}`);
  return usd;
}

/** Memory of every function, in GB, and the share of the requests that X-Ray records. */
export const MEMORY_GB = 1;
export const TRACED_SHARE = 0.01;

/** A request that comes with a key which no table has. */
export const UNKNOWN_KEY = 'refused: unknown key (401)';

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
  /** Headers and body of the answer, in bytes. */
  readonly answerBytes: number;
}

const MILLION = 1_000_000;
/** Of a streamed answer, for one billed request. */
const BYTES_PER_REQUEST = 10 * 1024 * 1024;

/** What a million such requests cost on production in USD, without what is paid by the month. */
export function costPerMillion(usage: RequestUsage) {
  const gbSeconds = (usage.billedMs / 1_000) * MEMORY_GB * MILLION;
  const gigabytes = (bytes: number): number => (bytes * MILLION) / 1e9;
  return {
    gateway: priceOf('a million requests') * Math.max(1, Math.ceil(usage.answerBytes / BYTES_PER_REQUEST)),
    lambda: priceOf('a million invocations') * usage.invocations + priceOf('a GB-second') * gbSeconds,
    dynamodb: priceOf('a million writes') * usage.writeUnits + priceOf('a million reads') * usage.readUnits,
    logs: priceOf('a GB of logs') * gigabytes(usage.logBytes),
    tracing: priceOf('a million traces') * TRACED_SHARE,
    firewall: priceOf('a million requests through the firewall'),
    traffic: priceOf('a GB to the internet') * gigabytes(usage.answerBytes),
  };
}

export const totalOf = (costs: Readonly<Record<string, number>>): number =>
  Object.values(costs).reduce((sum, part) => sum + part, 0);

/** The requests of a customer, by their shares. */
const requestMix = { update: 0.5, pet: 0.3, page: 0.2 };

/** What a million requests of the mix cost. */
export function costOfMix(usages: Readonly<Record<keyof typeof requestMix, RequestUsage>>): number {
  const costOf = (kind: keyof typeof requestMix): number => totalOf(costPerMillion(usages[kind])) * requestMix[kind];
  return costOf('update') + costOf('pet') + costOf('page');
}

/** The limits of a plan; of Enterprise, what a customer might have agreed: the most that staging agrees to. */
function limitsOf(plan: PlanId): Limits {
  const { limits } = plans[plan];
  return limits === 'agreed' ? stages.staging.mostForEnterprise : limits;
}

/** The requests of a month on a plan, up to the last one. */
export const requestsInMonth = (plan: PlanId): number => 30 * limitsOf(plan).perDay;
