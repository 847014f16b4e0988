import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect, jest, test } from '@jest/globals';
import * as v from 'valibot';
import { REQUEST_TIMEOUT_MS } from '../../../shared/dynamodb.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { IdempotentChanges } from '../../../shared/stores/idempotent-changes.ts';
import { StockHistory } from '../../../shared/stores/stock-history.ts';
import { StockStore } from '../../../shared/stores/stock-store.ts';
import { int64 } from '../../support/int64.ts';
import { propertiesOf, readableStage } from '../../support/service-template.ts';

const item = { petId: { value: '42' }, quantity: { value: '1' }, status: 'available', version: 'v1' };

/** How a call ends, and after how long: at its deadline, or so that as late an attempt as possible follows. */
const outcomes: readonly (readonly [milliseconds: number, failure?: object])[] = [
  [REQUEST_TIMEOUT_MS],
  [REQUEST_TIMEOUT_MS, { $metadata: {} }],
  [2_499, { name: 'ThrottlingException' }],
  [2_499, { code: 'ECONNRESET' }],
];

/** Every sequence of three of them, the last of which repeats. */
const sequences = Array.from({ length: outcomes.length ** 3 }, (_, index) =>
  [1, 4, 16].flatMap((place) => outcomes.slice(Math.floor(index / place) % 4).slice(0, 1)),
);

let now = 0;
let left = outcomes;

async function send(): Promise<object> {
  const [[milliseconds, failure] = [0], ...others] = left;
  if (others.length > 0) left = others;
  now += milliseconds;
  if (failure) throw Object.assign(new Error('a fault'), failure);
  return { Item: item, Attributes: item };
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all of it that stores use
const client = { send } as unknown as DynamoDBDocumentClient;
const stock = new StockStore(client, 'stock');
const history = new StockHistory({ client, tableName: 'changes', onLost: () => undefined });
const author = { who: 'a', how: 'update' } as const;
const keyed = new IdempotentChanges(client, stock, history, 'requests');
const request = { requestId: 'a', fingerprint: 'f' };
const update = { petId: int64('42'), quantity: 5 };
const token = { recordId: 'a', hash: 'h', usageIdentifier: 'u' };

const functions = new Map(
  propertiesOf(readableStage('staging'), 'AWS::Lambda::Function', v.looseObject({ Timeout: v.number() })),
);

test.each<[what: string, seconds: number, name: string, begunAfter: number, run: () => Promise<unknown>]>([
  ['An update', 11, 'UpdateInventory', 0, () => stock.change(update)],
  ['An update with an Idempotency-Key', 11, 'UpdateInventory', 0, () => keyed.apply(request, update, author)],
  [
    'An adjustment with one',
    11,
    'AdjustInventory',
    0,
    () => keyed.apply(request, { petId: update.petId, by: 1 }, author),
  ],
  ['The last row of a batch', 11, 'UpdateInventories', 3, () => keyed.apply(request, update, author)],
  ['Counting', 8, 'Authorizer', 0, () => new Limiter(client, 'keys').admit(token, now)],
])('%s takes up to %d seconds, and Lambda ends Functions%s later', async (_, seconds, name, begunAfter, run) => {
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  jest.spyOn(Math, 'random').mockReturnValue(0);
  let longest = 0;
  for (const sequence of sequences) {
    left = sequence;
    const begun = now;
    await run().catch(() => undefined);
    longest = Math.max(longest, now - begun);
  }

  expect(Math.ceil(longest / 1_000)).toBe(seconds);
  expect(begunAfter + seconds).toBeLessThan(functions.get(`Functions${name}`)?.Timeout ?? 0);
});
