import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { demoKey, limitsOfDemoKey } from '../infra/demo-keys.ts';
import { batchThrottle, overflowBatchThrottle } from '../infra/stack/usage-plans.ts';
import { stages } from '../infra/stages.ts';
import { InventoryClient } from '../shared/client/inventory-client.ts';
import { inventoryItemSchema } from '../shared/contract/inventory.ts';
import { MAX_LIMIT, operations } from '../shared/contract/operations.ts';
import { API_VERSION } from '../shared/contract/records.ts';
import { operationIds } from '../shared/contract/routes.ts';
import { MAX_BODY_BYTES } from '../shared/http/json-body.ts';
import { MAX_API_KEYS } from '../shared/key-registry/live-key.ts';
import { planIds, plans } from '../shared/keys/plans.ts';
import { REFUSAL_CACHE_TTL_MS } from '../shared/keys/limiter.ts';
import { propertiesOf, readableStage } from './support/service-template.ts';

const production = readableStage('production');

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, '..', file), 'utf8');

/** A page of docs/operating, as one line of words: line breaks and the padding of tables say nothing. */
const page = (name: string): string => read(`docs/operating/${name}.md`).replaceAll(/\s+/g, ' ');

const changeLog = read('CHANGELOG.md');

const formatNumber = (value: number): string => value.toLocaleString('en');

const [, lists] =
  propertiesOf(
    production,
    'AWS::Lambda::Function',
    v.looseObject({ Timeout: v.number(), ReservedConcurrentExecutions: v.optional(v.number()) }),
  ).find(([name]) => name === 'FunctionsListInventory') ?? [];
const seconds = lists?.Timeout;
const [, overflow] =
  propertiesOf(
    production,
    'AWS::ApiGateway::UsagePlan',
    v.looseObject({ Throttle: v.optional(v.object({ BurstLimit: v.number(), RateLimit: v.number() })) }),
  ).find(([name]) => name === 'UsagePlansOverflow') ?? [];

const rate = v.object({ Statement: v.object({ RateBasedStatement: v.object({ Limit: v.number() }) }) });
const [[, firewall] = []] = propertiesOf(production, 'AWS::WAFv2::WebACL', v.object({ Rules: v.looseTuple([rate]) }));
const requestsPerAddress = firewall?.Rules[0].Statement.RateBasedStatement.Limit ?? Number.NaN;
const body = `${MAX_BODY_BYTES / 1_024} KiB`;

describe('a number on a page', () => {
  test.each([
    ['limits', `${formatNumber(MAX_API_KEYS)} API keys per account and region`],
    ['limits', `up to ${REFUSAL_CACHE_TTL_MS / 1_000} second old`],
    ['limits', `${formatNumber(Number(overflow?.Throttle?.RateLimit))} refused requests per second`],
    ['limits', `${overflowBatchThrottle.rateLimit} of them (burst ${overflowBatchThrottle.burstLimit}) of`],
    ['limits', `200 MB and ${Number(seconds) / 60} minutes per list`],
    ['limits', `\`?limit=${MAX_LIMIT}\``],
    ['limits', `max concurrent lists of a kind (${lists?.ReservedConcurrentExecutions} on production)`],
    ['limits', `${batchThrottle.rateLimit} requests per second per key`],
    ['limits', `Production runs ${stages.production.batchConcurrency} concurrently`],
    ...['../keys', '../architecture', '../decisions/template-on-a-laptop'].map((name) => [
      name,
      `${batchThrottle.rateLimit} batch updates per second`,
    ]),
    ['../guide', `send ${batchThrottle.rateLimit} of these requests per second`],
    ['deploying', `two times ${lists?.ReservedConcurrentExecutions} for lists`],
    ['security', `| body | ${body}`],
    ['security', `| ${formatNumber(requestsPerAddress)} in five minutes`],
    ['security', `${stages.production.logRetentionDays} days on both stages`],
  ])('of %s matches the code: %s', (name, words) => {
    expect(page(name)).toContain(words);
  });

  test('of the costs page for Enterprise is the maximum of staging', () => {
    const { perMinute, perDay } = stages.staging.maxEnterpriseLimits;
    expect(page('costs')).toContain(`${formatNumber(perMinute)} per minute and ${formatNumber(perDay)} per day`);
  });
});

describe('README', () => {
  const readme = read('README.md');

  // So the demo keys are the same on every machine.
  test.each(planIds)('has the plan %s in its table, and its demo key as the server prints it', (plan) => {
    const { title, limits } = plans[plan];
    const { perMinute, perDay } = limitsOfDemoKey(plan);
    const [minute, day] = [perMinute, perDay].map(formatNumber);
    const row = limits === 'agreed' ? `as agreed, max ${minute} | as agreed` : `${minute} | ${day}`;
    expect(readme).toContain(`${demoKey(plan)}  ${minute} per minute, ${day} per day`);
    expect(readme.replaceAll(/ +/g, ' ')).toContain(`| ${title} | ${row} |`);
  });

  test('names the plans, and docs/keys.md the tags of their usage plans', () => {
    expect(readme).toContain(`(${planIds.map((plan) => plans[plan].title).join(', ')})`);
    for (const plan of planIds) expect(changeLog).toContain(plans[plan].title);
    expect(page('../keys')).toContain(`on this plan: ${planIds.map((plan) => `\`${plan}\``).join(', ')};`);
  });

  test.each(Object.values(operations))('costs and change log have the operation $method $path', (operation) => {
    for (const text of [readme, page('costs'), changeLog])
      expect(text).toContain(`\`${operation.method} ${operation.path}\``);
  });
});

test.each(Object.keys(inventoryItemSchema.entries))('Imports and change log have the field %s of stock', (field) => {
  expect(/^\| stock .*/m.exec(read('docs/importing.md'))?.[0]).toContain(`\`${field}\``);
  expect(changeLog).toMatch(new RegExp(`\\b${field}\\b`));
});

test('The client has a method for each operation, and its README lists them all', () => {
  const methods = Object.getOwnPropertyNames(InventoryClient.prototype).filter((name) => name !== 'constructor');
  const [, calls = ''] = /\*\*Calls\*\*: ([^.]+)\./.exec(read('shared/client/README.md')) ?? [];

  expect(methods).toEqual(expect.arrayContaining(operationIds));
  expect([...calls.matchAll(/(?<=`)\w+(?=`)/g)].map(String).toSorted()).toEqual(methods.toSorted());
});

test('package.json, client, document and change log have the same version', () => {
  const versioned = v.object({ version: v.string() });
  const versionIn = (file: string): string => v.parse(versioned, JSON.parse(read(file))).version;

  expect([versionIn('package.json'), versionIn('shared/client/package.json')]).toEqual([API_VERSION, API_VERSION]);
  expect(JSON.parse(read('docs/openapi.json'))).toMatchObject({ info: { version: API_VERSION } });
  expect(/^## \[(\d[^\]]*)\]/m.exec(changeLog)?.[1]).toBe(API_VERSION);
});

test('CONTRIBUTING lists every package', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));
  const packages = Object.keys({ ...dependencies, ...devDependencies }).map((name) =>
    name.replace(/^(@aws-sdk|@smithy|@types)\/.+/, '$1/*'),
  );
  const [, table = ''] = /^## Packages\n\n(.*?)\n\n/ms.exec(read('CONTRIBUTING.md')) ?? [];
  expect(new Set([...table.matchAll(/`(.+?)`/g)].map(([, name]) => name))).toEqual(new Set(packages));
});
