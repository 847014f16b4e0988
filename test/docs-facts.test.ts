import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { demoKey, limitsOfDemoKey } from '../infra/demo-keys.ts';
import { examples } from '../infra/reference/examples.ts';
import { maxPerCustomer } from '../infra/stack/firewall.ts';
import { batchThrottle, internalBatchThrottles } from '../infra/stack/usage-plans.ts';
import { stages } from '../infra/stages.ts';
import { InventoryClient } from '../shared/client/inventory-client.ts';
import { errorCatalog, ServiceError } from '../shared/contract/errors.ts';
import { inventoryItemSchema, MAX_QUANTITY } from '../shared/contract/inventory.ts';
import { MAX_LIMIT, type Operation, operations } from '../shared/contract/operations.ts';
import { API_VERSION, petStatuses } from '../shared/contract/records.ts';
import { operationIds } from '../shared/contract/routes.ts';
import { IDEMPOTENCY_KEY_RULE } from '../shared/http/conditional-requests.ts';
import { MAX_BODY_BYTES } from '../shared/http/json-body.ts';
import { MIN_PACE } from '../shared/http/list-handler.ts';
import { allowedRequestHeaders, STABILITY_HEADER } from '../shared/http/response-headers.ts';
import { MAX_API_KEYS } from '../shared/key-registry/live-key.ts';
import { FIRST_PAUSE_MS, REFUSAL_CACHE_TTL_MS, REPEATED_PAUSE_MS } from '../shared/keys/limiter.ts';
import { type ExactLimits, planIds, plans } from '../shared/keys/plans.ts';
import { SUSPENSION_MS } from '../shared/keys/verdict.ts';
import { MAX_READ_FOR_PAGE } from '../shared/stores/sorted-table.ts';

const { production, staging } = stages;
const { Overflow, Interim } = internalBatchThrottles;

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, '..', file), 'utf8');

/** A page as one line of words: line breaks and the padding of tables say nothing. */
const wordsOf = (file: string): string => read(file).replaceAll(/\s+/g, ' ');

const readme = read('README.md');
const guide = read('docs/guide.md');
const changeLog = read('CHANGELOG.md');

const formatNumber = (value: number): string => value.toLocaleString('en');
const limitsText = ({ perMinute, perDay }: ExactLimits): string =>
  `${formatNumber(perMinute)} per minute and ${formatNumber(perDay)} per day`;

const allOperations: readonly Operation[] = Object.values(operations);
const nameOf = ({ method, path: route }: Operation): string => `\`${method} ${route}\``;

const BATCH_RATE = `${batchThrottle.rateLimit} batch updates per second`;

/** Values of the code with their units, as pages have them in whatever sentence. */
const values: Readonly<Record<string, readonly string[]>> = {
  guide: [
    `0 to ${MAX_QUANTITY}`,
    `1 to ${formatNumber(MAX_LIMIT)}`,
    `${SUSPENSION_MS / 60_000} minutes`,
    `${MIN_PACE.bytes / MIN_PACE.withinMs} kB per second`,
    `${MIN_PACE.withinMs / 1_000} seconds`,
    `${formatNumber(MAX_READ_FOR_PAGE)} entries`,
    `version ${API_VERSION}`,
    `${batchThrottle.rateLimit} batches per second`,
    IDEMPOTENCY_KEY_RULE,
    ...[...petStatuses, ...allowedRequestHeaders, STABILITY_HEADER].map((name) => `\`${name}\``),
    ...allOperations.filter(({ deprecated }) => deprecated).map((operation) => `${nameOf(operation)} is deprecated`),
    ...allOperations
      .filter(({ stability }) => stability !== 'stable')
      .map((operation) => `- ${nameOf(operation)}: ${operation.stability}`),
  ],
  keys: [BATCH_RATE, ...planIds.map((plan) => `\`${plan}\``)],
  architecture: [BATCH_RATE],
  decisions: [BATCH_RATE],
  'operating/limits': [
    `${formatNumber(MAX_API_KEYS)} API keys`,
    `${REFUSAL_CACHE_TTL_MS / 1_000} second old`,
    `${FIRST_PAUSE_MS} ms, or for ${REPEATED_PAUSE_MS / 1_000} second`,
    `${formatNumber(production.throttle.requestsPerSecond)} refused requests`,
    `${Overflow.rateLimit} of them (burst ${Overflow.burstLimit})`,
    `${Interim.rateLimit} per second (burst ${Interim.burstLimit})`,
    `${production.lists.seconds / 60} minutes per list`,
    `?limit=${MAX_LIMIT}`,
    `${production.lists.concurrency} on production`,
    `${batchThrottle.rateLimit} requests per second per key`,
    `${limitsText(production.maxEnterpriseLimits)} on production`,
    `${production.batchConcurrency} concurrently`,
  ],
  'operating/deploying': [`${production.lists.concurrency} for lists, ${production.batchConcurrency} for batch`],
  'operating/security': [
    `${MAX_BODY_BYTES / 1_024} KiB`,
    `${formatNumber(2 * maxPerCustomer(production.maxEnterpriseLimits))} in five minutes`,
    `${production.logRetentionDays} days on both stages`,
  ],
  'operating/costs': [limitsText(staging.maxEnterpriseLimits)],
};

test.each(Object.entries(values))('docs/%s.md has the values of the code', (page, texts) => {
  const words = wordsOf(`docs/${page}.md`);
  expect(texts.filter((text) => !words.includes(text))).toEqual([]);
});

test.each(['README.md', 'docs/guide.md'])('%s has exactly the plans of the catalog', (file) => {
  const [, rows = ''] = /^\| plan .*\n.*\n((?:\|.*\n)+)/m.exec(read(file)) ?? [];
  const expected = planIds.map((plan) => {
    const { title, limits } = plans[plan];
    return limits === 'agreed'
      ? `| ${title} | as agreed | as agreed |`
      : `| ${title} | ${formatNumber(limits.perMinute)} | ${formatNumber(limits.perDay)} |`;
  });

  expect(rows.replaceAll(/ +/g, ' ').trim().split('\n')).toEqual(expected);
});

test.each(planIds)(
  'README has the demo key of the plan %s as the server prints it, and the change log its title',
  (plan) => {
    const [minute, day] = Object.values(limitsOfDemoKey(plan)).map(formatNumber);

    // So the demo keys are the same on every machine.
    expect(readme).toContain(`${demoKey(plan)}  ${minute} per minute, ${day} per day`);
    expect(changeLog).toContain(plans[plan].title);
  },
);

test.each(['operating/limits', 'keys'])('The Enterprise example of docs/%s.md works on production', (page) => {
  const [, minute, day] = /per-minute[= ](\d+)[, ].*per-day[= ](\d+)/.exec(read(`docs/${page}.md`)) ?? [];
  const most = production.maxEnterpriseLimits;
  expect([Number(minute) <= most.perMinute, Number(day) <= most.perDay]).toEqual([true, true]);
});

test.each(allOperations)('README, costs and change log have the operation $method $path', (operation) => {
  for (const text of [readme, read('docs/operating/costs.md'), changeLog]) expect(text).toContain(nameOf(operation));
});

test.each(Object.keys(inventoryItemSchema.entries))('imports and change log have the field %s of stock', (field) => {
  expect(/^\| stock .*/m.exec(read('docs/importing.md'))?.[0]).toContain(`\`${field}\``);
  expect(changeLog).toMatch(new RegExp(`\\b${field}\\b`));
});

test('the guide has the examples of the OpenAPI document, and no unknown error code', () => {
  const blocks = [...guide.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']): unknown => JSON.parse(json));
  const codes = [...guide.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code = '']) => code);

  expect(blocks).toEqual([
    examples.listInventory,
    examples.updateInventory,
    new ServiceError('PET_NOT_FOUND').body,
    examples.adjustInventory,
    examples.updateInventories,
  ]);
  expect(codes.filter((code) => !(code in errorCatalog))).toEqual([]);
});

test('docs/errors.md has the status and message of each error, and when to retry', () => {
  const page = read('docs/errors.md');
  const sections = [...page.matchAll(/^## (\w+)\n\n\*\*(\d+)\*\* (.+)$/gm)].map(([, ...section]) => section);
  const rows = [...page.matchAll(/^\| (\d+) +\| \[`(\w+)`\]\S+ +\| (.+?) +\|$/gm)];
  const retried = rows.filter(([, status, code]) => /429|503/.test(`${status}`) && code !== 'UPDATE_OUTCOME_UNKNOWN');
  const errors = Object.entries(errorCatalog).map(([code, { status, message }]) => [code, `${status}`, message]);

  expect(sections).toEqual(
    errors.map(([code, status, message = '']) => [code, status, message.replaceAll('<', '\\<')]),
  );
  expect(rows.map(([, status, code]) => [code, status])).toEqual(errors.map(([code, status]) => [code, status]));
  expect(new Set(retried.map(([, , , when]) => when))).toEqual(new Set(['after `Retry-After`']));
});

test('the client has a method for each operation, and its README lists them all', () => {
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
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json'));
  const packages = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).map((name) =>
    name.replace(/^(@aws-sdk|@smithy|@types)\/.+/, '$1/*'),
  );
  const [, table = ''] = /^## Packages\n\n(.*?)\n\n/ms.exec(read('CONTRIBUTING.md')) ?? [];

  expect(new Set([...table.matchAll(/`(.+?)`/g)].map(([, name]) => name))).toEqual(new Set(packages));
});
