import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeEventBusCommand, EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import * as v from 'valibot';
import { int64Schema } from '../shared/contract/int64.ts';
import {
  inventoryItemToJson,
  type StockChanged,
  stockChangedSchema,
  stockEventKind,
} from '../shared/contract/inventory.ts';
import { DeadlineHandler } from '../shared/deadline-handler.ts';
import { requiredEnv } from '../shared/environment.ts';
import { probed } from '../shared/http/probe.ts';
import { itemFrom } from '../shared/item-attributes.ts';
import { logError } from '../shared/log.ts';
import { stockItemSchema } from '../shared/stores/stock-store.ts';

const requestHandler = new DeadlineHandler({ connectionTimeout: 1_000, requestTimeout: 3_000 });
const bus = new EventBridgeClient({ maxAttempts: 1, requestHandler });
const queue = new SQSClient({ requestHandler });
const common = { ...stockEventKind, EventBusName: requiredEnv('EVENT_BUS') };
const queueUrl = requiredEnv('UNPUBLISHED_QUEUE_URL');

/** How long the bus is assumed to exist. */
const BUS_CHECK_MS = 60_000;
/** Max entries per call. */
const EVENTS_PER_CALL = 10;
const ATTEMPTS = 5;
const PAUSE_MS = 50;
/** Codes of events that the bus never accepts; the last one is of a call with an event that is too large. */
const OF_EVENT = new Set(['InvalidArgument', 'MalformedDetail', 'RedactionFailure', 'ValidationException']);
/** Codes of the bus, or of an event that always fails (EventBridge API reference, "PutEventsResultEntry"). */
const INTERNAL: ReadonlySet<string> = new Set(['InternalException', 'InternalFailure']);
/** The codes that are worth another attempt. An admin resolves all others, such as a missing permission. */
const TRANSIENT = INTERNAL.union(new Set(['ThrottlingException']));

interface Change {
  readonly record: DynamoDBRecord;
  /** Absent if the record is unreadable. */
  readonly detail?: StockChanged;
  /** `failed`: left to Lambda. `refused`: permanently, by the bus or as unreadable. `done`: on the bus or the queue. */
  status: 'pending' | 'done' | 'failed' | 'refused';
  /** Why it is not published. */
  reason: string;
}

let busCheckedAt = -Infinity;

/** EventBridge accepts events of a missing bus, and loses them. @throws if it is missing: Lambda then retries */
async function checkBus(): Promise<void> {
  if (Date.now() < busCheckedAt + BUS_CHECK_MS) return;
  await bus.send(new DescribeEventBusCommand({ Name: common.EventBusName }));
  busCheckedAt = Date.now();
}

/** Sends an invalid event: the bus checks the permission, then rejects it, so no subscriber gets it. */
async function probe(): Promise<void> {
  await checkBus();
  const { Entries: [entry] = [] } = await bus.send(
    new PutEventsCommand({ Entries: [{ ...common, Detail: 'no JSON' }] }),
  );
  const name = entry?.ErrorCode ?? 'ProbePublished';
  if (name !== 'MalformedDetail') throw Object.assign(new Error(entry?.ErrorMessage), { name });
}

/** In the order of the stream. @returns the first change that Lambda must resend, with all after it */
async function publish({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  const changes = Records.flatMap(changeOf);
  for (let first = 0; first < changes.length; first += EVENTS_PER_CALL) {
    const chunk = changes.slice(first, first + EVENTS_PER_CALL);
    await putEvents(chunk.filter(({ detail }) => detail));
    for (const change of chunk) {
      if (change.status === 'refused') await putOnQueue(change);
      if (change.status === 'done') continue;
      // One line for all: an outage may last hours.
      logError('Stock changes are not published yet', new Error(change.reason), {
        sequence: sequenceOf(change.record),
      });
      return { batchItemFailures: [{ itemIdentifier: sequenceOf(change.record) }] };
    }
  }
  return { batchItemFailures: [] };
}

type Image = Parameters<typeof itemFrom>[0];
const imageSchema = v.pipe(
  v.custom<Image>((image) => typeof image === 'object'),
  v.transform(itemFrom),
  stockItemSchema,
);
const streamRecordSchema = v.object({
  Keys: v.object({ petId: v.object({ N: int64Schema }) }),
  // An entry that no client could read does not count: its fix is its creation.
  OldImage: v.fallback(v.optional(imageSchema), undefined),
  NewImage: v.optional(imageSchema),
  SequenceNumber: v.string(),
  ApproximateCreationDateTime: v.number(),
});

/** None if the write changed no field. */
function changeOf(record: DynamoDBRecord): Change[] {
  try {
    const output = v.parse(streamRecordSchema, record.dynamodb);
    const { Keys, OldImage: before, NewImage: after, SequenceNumber, ApproximateCreationDateTime } = output;
    if (before && after && inventoryItemToJson(before.entry) === inventoryItemToJson(after.entry)) return [];
    const detail = v.parse(stockChangedSchema, {
      ...after?.entry,
      petId: Keys.petId.N,
      previous: before?.entry,
      version: after?.version,
      changedAt: new Date(ApproximateCreationDateTime * 1_000).toISOString(),
      sequence: SequenceNumber.padStart(40, '0'),
    });
    return [{ record, detail, status: 'pending', reason: '' }];
  } catch (error) {
    const reason = error instanceof v.ValiError ? v.summarize(error.issues) : String(error);
    return [{ record, status: 'refused', reason }];
  }
}

/** Max five attempts, where another one may succeed. Sets the status of each change. */
async function putEvents(changes: readonly Change[]): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const left = changes.filter(({ status }) => status === 'pending');
    if (left.length === 0) break;
    await sleep(attempt * PAUSE_MS * Math.random());
    await putOnce(left);
  }
  // If the bus accepts others, only this one fails.
  if (changes.every(({ status }) => status !== 'done')) return;
  for (const change of changes)
    if (change.status === 'failed' || INTERNAL.has(change.reason)) change.status = 'refused';
}

function statusAfter(code: string): Change['status'] {
  if (OF_EVENT.has(code)) return 'refused';
  return TRANSIENT.has(code) ? 'pending' : 'failed';
}

async function putOnce(changes: readonly Change[]): Promise<void> {
  const Entries = changes.map(({ detail }) => ({ ...common, Detail: JSON.stringify(detail) }));
  try {
    await checkBus();
    const { Entries: results = [] } = await bus.send(new PutEventsCommand({ Entries }));
    for (const [index, change] of changes.entries()) {
      const { EventId, ErrorCode = 'no result' } = results[index] ?? {};
      change.reason = ErrorCode;
      change.status = EventId === undefined ? statusAfter(ErrorCode) : 'done';
    }
  } catch (error) {
    const isRefused = error instanceof Error && '$fault' in error && error.$fault === 'client';
    const status = isRefused ? statusAfter(error.name) : 'pending';
    for (const change of changes) Object.assign(change, { status, reason: String(error) });
  }
}

/** Puts a refused change on the queue, in the function's input format. If that fails, it stays refused. */
async function putOnQueue(change: Change): Promise<void> {
  const { record, reason } = change;
  try {
    const MessageBody = JSON.stringify({ Records: [record] });
    await queue.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));
    change.status = 'done';
    logError('A stock change is on the queue, unpublished', new Error(reason), { sequence: sequenceOf(record) });
  } catch (error) {
    change.reason = `${reason}, and the queue: ${String(error)}`;
  }
}

const sequenceOf = ({ dynamodb }: DynamoDBRecord): string => dynamodb?.SequenceNumber ?? '';

// No client waits for its cold start.
export const { handler } = probed(publish, [probe]);
