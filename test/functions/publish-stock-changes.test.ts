import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import * as v from 'valibot';
import type * as PublishStockChanges from '../../functions/publish-stock-changes.ts';
import { stockChangedSchema } from '../../shared/contract/inventory.ts';
import { pointSdkAt } from '../support/engines.ts';
import { type Call, FaultyLink } from '../support/faulty-engine.ts';
import { recordFaults } from '../support/request-lines.ts';

const PET = '9007199254740993';

const imageOf = (petId: string, quantity: number, version?: string, status = 'available') => ({
  petId: { N: petId },
  quantity: { N: String(quantity) },
  storeId: { S: 'main' },
  ...(version !== undefined && { version: { S: version } }),
  status: { S: status },
});
const [v1, own, rewritten] = [imageOf(PET, 4, 'v1'), imageOf(PET, 7, 'version-own1'), imageOf(PET, 7, 'version-own2')];
const [sold, unreadable, readable] = [imageOf(PET, 7, 'v2', 'sold'), imageOf('102', -1), imageOf('102', 1)];

/**
 * An entry from its creation to its end, and one that was put in manually, and then put right: as the stream of
 * DynamoDB Local has them.
 */
const recorded = [
  { eventName: 'INSERT', NewImage: v1 },
  { eventName: 'MODIFY', OldImage: v1, NewImage: own },
  { eventName: 'MODIFY', OldImage: own, NewImage: rewritten },
  { eventName: 'MODIFY', OldImage: rewritten, NewImage: sold },
  { eventName: 'REMOVE', OldImage: sold },
  { eventName: 'INSERT', NewImage: unreadable },
  { eventName: 'MODIFY', OldImage: unreadable, NewImage: readable },
].map(({ eventName, ...images }, index) => {
  const { petId, storeId } = images.NewImage ?? images.OldImage ?? v1;
  const [SequenceNumber, ApproximateCreationDateTime] = [String(index + 1).padStart(21, '0'), 1_795_480_140];
  return { eventName, dynamodb: { ...images, Keys: { petId, storeId }, SequenceNumber, ApproximateCreationDateTime } };
});

const entry = v.strictObject(v.entriesFromList(['Source', 'DetailType', 'EventBusName', 'Detail'], v.string()));
const entriesIn = v.pipe(v.string(), v.parseJson(), v.object({ Entries: v.array(entry) }));
const messageIn = v.pipe(v.string(), v.parseJson(), v.object({ MessageBody: v.string() }));
const detailIn = v.pipe(v.string(), v.parseJson(), v.strictObject(stockChangedSchema.entries));

const logged = recordFaults();
let aws: FaultyLink;
/** Records are any, as the function validates them. */
let lambda: { handler(event?: object, context?: object): ReturnType<typeof PublishStockChanges.handler> };

// EventBridge and SQS run on AWS only: this responds as in their API references.
beforeAll(async () => {
  aws = await FaultyLink.to('http://127.0.0.1:1');
  pointSdkAt(new URL(aws.origin));
  const { origin } = aws;
  Object.assign(process.env, { AWS_ENDPOINT_URL_EVENTBRIDGE: origin, AWS_ENDPOINT_URL_SQS: origin });
  Object.assign(process.env, { EVENT_BUS: 'test-Inventory', UNPUBLISHED_QUEUE_URL: `${origin}/queue` });
  lambda = await import('../../functions/publish-stock-changes.ts');
});

afterAll(() => aws?.close());

const entriesOf = ({ body }: Call) => v.parse(entriesIn, body).Entries;
const callsOf = (action: string): Call[] => aws.calls.filter((call) => call.action === action);
const sizes = (): number[] => callsOf('PutEvents').map((call) => entriesOf(call).length);

/** Why the bus refuses an event, or with a `!` the call; undefined where it takes it. */
type Refusal = (detail: string, attempt: number) => string | undefined;
const taken: Refusal = () => undefined;

const response = (status: number, body: object) => ({ kind: 'response', status, body: JSON.stringify(body) }) as const;

/** Has the function publish, or check itself. @returns the records to retry, and those on the queue */
async function send(Records: readonly object[] | undefined, refusal: Refusal, queueStatus = 200, isMissing = false) {
  aws.calls.splice(0);
  aws.faults = (call) => {
    if (call.action === 'SendMessage') {
      const MD5OfMessageBody = createHash('md5').update(v.parse(messageIn, call.body).MessageBody).digest('hex');
      return response(queueStatus, { MessageId: 'm', MD5OfMessageBody });
    }
    if (call.action === 'DescribeEventBus')
      return isMissing ? response(400, { __type: 'ResourceNotFoundException' }) : response(200, {});
    const codes = entriesOf(call).map(({ Detail }) => refusal(Detail, callsOf('PutEvents').length));
    const ofCall = codes.find((code) => code?.startsWith('!'))?.slice(1);
    if (ofCall !== undefined) return response(ofCall.startsWith('Internal') ? 500 : 400, { __type: ofCall });
    const Entries = codes.map((ErrorCode) => (ErrorCode === undefined ? { EventId: 'e' } : { ErrorCode }));
    return response(200, { FailedEntryCount: codes.filter(Boolean).length, Entries });
  };
  const result = await lambda.handler(Records && { Records }, { getRemainingTimeInMillis: () => 1_000 });
  const queued = callsOf('SendMessage').map(({ body }) => JSON.parse(v.parse(messageIn, body).MessageBody));
  return { again: result?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier), queued };
}

/** As Lambda knows the record with this index. */
const sequence = (index: number): string => recorded[index]?.dynamodb.SequenceNumber ?? '';
const change = recorded.slice(1, 2);
const isRemoval = (detail: string): boolean => detail.includes('"quantity":null');

test('each change, creation and removal is one event, and an unreadable record is queued', async () => {
  const changedAt = '2026-11-24T00:29:00.000Z';
  const [four, seven] = [4, 7].map((quantity) => ({ quantity, status: 'available' }));
  const sevenSold = { quantity: 7, status: 'sold' };
  const gone = { quantity: null, status: null };
  const event = (petId: string, index: number, version: unknown, previous: unknown, now: object = gone) => {
    return { petId, ...now, previous, version, changedAt, sequence: sequence(index).padStart(40, '0') };
  };
  const result = await send(recorded, taken);
  const entries = callsOf('PutEvents').flatMap(entriesOf);

  expect(entries.map(({ Detail }) => v.parse(detailIn, Detail))).toMatchObject([
    event(PET, 0, 'v1', null, four),
    event(PET, 1, 'version-own1', four, seven),
    event(PET, 3, 'v2', seven, sevenSold),
    event(PET, 4, null, sevenSold),
    event('102', 6, 'unversioned102', null, { quantity: 1, status: 'available' }),
  ]);
  const kind = { Source: 'pet-store-inventory', DetailType: 'Stock Changed', EventBusName: 'test-Inventory' };
  expect(entries).toMatchObject(entries.map(() => kind));
  expect(result).toEqual({ again: [], queued: [{ Records: [recorded[5]] }] });
  expect(String(logged())).toMatch(/on the queue.*NewImage\.quantity/);
});

test('a call sends at most ten events, and a batch without changed fields makes no call', async () => {
  await send(Array.from({ length: 25 }, () => change).flat(), taken);
  expect(sizes()).toEqual([10, 10, 5]);

  expect(await send(recorded.slice(2, 3), taken)).toEqual({ again: [], queued: [] });
  expect(aws.calls).toEqual([]);
});

test.each([
  ['MalformedDetail', 1, 'is queued'],
  ['InvalidArgument', 1, 'is queued'],
  ['RedactionFailure', 1, 'is queued'],
  ['!ValidationException', 1, 'is queued'],
  ['ThrottlingException', 5, 'is retried'],
  ['InternalFailure', 5, 'is retried'],
  ['!InternalException', 5, 'is retried'],
  ['!Internal, with an unknown code', 5, 'is retried'],
  ['!ThrottlingException', 5, 'is retried'],
  ['!AccessDeniedException', 1, 'is retried'],
  ['NotAuthorizedForSourceException', 1, 'is retried'],
])('an event that the bus refuses with %s is sent %d times and %s', async (code, attempts, what) => {
  const { again, queued } = await send(change, () => code);

  expect(sizes()).toEqual(Array.from({ length: attempts }, () => 1));
  expect({ again, queued }).toEqual(
    what === 'is retried' ? { again: [sequence(1)], queued: [] } : { again: [], queued: [{ Records: change }] },
  );
});

test('only events that the bus refused are sent again, and Lambda retries what the queue refuses', async () => {
  const once = await send(recorded.slice(0, 5), (detail, attempt) =>
    isRemoval(detail) && attempt < 3 ? 'ThrottlingException' : undefined,
  );
  expect(sizes()).toEqual([4, 1, 1]);
  expect(once).toEqual({ again: [], queued: [] });

  const { again } = await send(recorded.slice(0, 5), (one) => (isRemoval(one) ? 'MalformedDetail' : undefined), 500);
  expect(again).toEqual([sequence(4)]);
});

test('an event that always fails is queued, and an outage stops the batch at its first record', async () => {
  for (const code of ['InternalFailure', 'an unknown code']) {
    const result = await send(recorded.slice(0, 5), (detail) => (isRemoval(detail) ? code : undefined));
    expect(result).toEqual({ again: [], queued: [{ Records: [recorded[4]] }] });
  }

  const outage = await send(recorded, () => 'ThrottlingException');
  expect(outage).toEqual({ again: [sequence(0)], queued: [] });
});

test('a malformed record is queued and not treated as an outage', async () => {
  const odd = [{ ...change[0], dynamodb: { ...change[0]?.dynamodb, NewImage: { quantity: { X: '1' } } } }];
  const { again, queued } = await send(odd, taken);
  expect([again, queued.length]).toEqual([[], 1]);
});

test('the check of a release sends one event that the bus must refuse as malformed', async () => {
  await expect(send(undefined, () => 'MalformedDetail')).resolves.toEqual({ again: undefined, queued: [] });
  expect(() => JSON.parse(callsOf('PutEvents').flatMap(entriesOf)[0]?.Detail ?? '{}')).toThrow(SyntaxError);
  expect(sizes()).toEqual([1]);

  for (const code of ['!AccessDeniedException', 'AccessDeniedException', '!InternalException', undefined])
    await expect(send(undefined, () => code)).rejects.toThrow(Error);
});

test('all records are retried while the bus is missing', async () => {
  const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_001);
  try {
    expect(await send(change, taken, 200, true)).toEqual({ again: [sequence(1)], queued: [] });
    expect(sizes()).toEqual([]);
    expect(String(logged())).toContain('ResourceNotFoundException');
    expect(await send(change, taken)).toEqual({ again: [], queued: [] });
  } finally {
    clock.mockRestore();
  }
});

test('docs/events.md has every field and an example that matches the schema', () => {
  const page = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
  const { detail, ...event } = JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? '{}');

  expect(event).toMatchObject({ source: 'pet-store-inventory', 'detail-type': 'Stock Changed' });
  expect(v.parse(detailIn, JSON.stringify(detail))).toEqual(detail);
  for (const name of Object.keys(stockChangedSchema.entries)) expect(page).toContain(`| \`${name}\``);
});
