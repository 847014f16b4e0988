import { setTimeout as sleep } from 'node:timers/promises';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import * as v from 'valibot';
import { int64Schema } from '../shared/contract/int64.ts';
import {
  inventoryItemToJson,
  type StockChanged,
  stockChangedSchema,
  stockEventKind,
} from '../shared/contract/inventory.ts';
import { requiredEnv } from '../shared/environment.ts';
import { runProbe } from '../shared/http/probe.ts';
import { exactNumbers } from '../shared/item-attributes.ts';
import { logError } from '../shared/log.ts';
import { stockItemSchema } from '../shared/stores/stock-store.ts';

const requestHandler = { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true };
const bus = new EventBridgeClient({ maxAttempts: 1, requestHandler });
const queue = new SQSClient({ requestHandler });
const common = { ...stockEventKind, EventBusName: requiredEnv('EVENT_BUS') };
const queueUrl = requiredEnv('UNPUBLISHED_QUEUE_URL');

/** Max entries per call. */
const EVENTS_PER_CALL = 10;
const ATTEMPTS = 5;
const PAUSE_MS = 50;
/** Codes of events that the bus never accepts; all others are transient, or an admin resolves them. */
const OF_EVENT: ReadonlySet<string> = new Set(['InvalidArgument', 'MalformedDetail', 'RedactionFailure']);
/** Codes of the bus, or of an event that always fails (EventBridge API reference, "PutEventsResultEntry"). */
const INTERNAL: ReadonlySet<string> = new Set(['InternalException', 'InternalFailure']);

/** An unpublished change with the reason; `isRefused`: permanently. Without a detail it is unreadable. */
interface Change {
  readonly record: DynamoDBRecord;
  readonly detail?: StockChanged;
  readonly reason: string;
  readonly isRefused: boolean;
}

/** Publishes the changes of a batch. Any other event, or none, runs the probe. */
export const handler = async (
  event: unknown,
  ...args: readonly unknown[]
): Promise<DynamoDBBatchResponse | undefined> => (isBatch(event) ? publish(event.Records) : runProbe(probe, args));

const isBatch = (event: unknown): event is DynamoDBStreamEvent =>
  typeof event === 'object' && event !== null && 'Records' in event;

/** Sends an invalid event: the bus checks the permission, then rejects it, so no subscriber gets it. */
async function probe(): Promise<void> {
  const { Entries: [entry] = [] } = await bus.send(
    new PutEventsCommand({ Entries: [{ ...common, Detail: 'no JSON' }] }),
  );
  const name = entry?.ErrorCode ?? 'ProbePublished';
  if (name !== 'MalformedDetail') throw Object.assign(new Error(entry?.ErrorMessage), { name });
}

/** In the order of the stream. @returns the first change that Lambda must resend, with all after it */
async function publish(records: readonly DynamoDBRecord[]): Promise<DynamoDBBatchResponse> {
  const changes = records.flatMap(changeOf);
  for (let first = 0; first < changes.length; first += EVENTS_PER_CALL) {
    const chunk = changes.slice(first, first + EVENTS_PER_CALL);
    const unpublished = await putEvents(chunk.filter(({ detail }) => detail));
    const left = chunk.flatMap((change) => unpublished.get(change) ?? (change.detail ? [] : change));
    for (const change of left) {
      const reason = change.isRefused ? await setAside(change) : change.reason;
      if (reason === undefined) continue;
      // One line for all: an outage may last hours.
      logError('Stock changes are not published yet', new Error(reason), { sequence: sequenceOf(change.record) });
      return { batchItemFailures: [{ itemIdentifier: sequenceOf(change.record) }] };
    }
  }
  return { batchItemFailures: [] };
}

type Image = Parameters<typeof unmarshall>[0];
const imageSchema = v.pipe(
  v.custom<Image>((image) => typeof image === 'object'),
  v.transform((image) => unmarshall(image, { ...exactNumbers })),
  stockItemSchema,
);
const recordSchema = v.object({
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
    return readChange(record);
  } catch (error) {
    const reason = error instanceof v.ValiError ? v.summarize(error.issues) : String(error);
    return [{ record, reason, isRefused: true }];
  }
}

/** @throws if the record is not a valid change of stock */
function readChange(record: DynamoDBRecord): Change[] {
  const output = v.parse(recordSchema, record.dynamodb);
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
  return [{ record, detail, reason: '', isRefused: false }];
}

/** Max five attempts. @returns the changes that the bus did not accept, with reasons */
async function putEvents(changes: readonly Change[]): Promise<Map<Change, Change>> {
  let left = changes.map((change) => [change, change] as const);
  for (let attempt = 0; attempt < ATTEMPTS && left.length > 0; attempt++) {
    await sleep(attempt * PAUSE_MS * Math.random());
    left = await putOnce(left.map(([change]) => change));
  }
  // If the bus accepts others, only this one fails.
  const isUp = left.length < changes.length;
  return new Map(
    left.map(([change, { isRefused, ...rest }]) => {
      return [change, { ...rest, isRefused: isRefused || (isUp && INTERNAL.has(rest.reason)) }];
    }),
  );
}

async function putOnce(changes: readonly Change[]): Promise<(readonly [Change, Change])[]> {
  const Entries = changes.map(({ detail }) => ({ ...common, Detail: JSON.stringify(detail) }));
  try {
    const { Entries: results = [] } = await bus.send(new PutEventsCommand({ Entries }));
    return changes.flatMap((change, index) => {
      const { EventId, ErrorCode: reason = 'no result' } = results[index] ?? {};
      return EventId === undefined ? [[change, { ...change, reason, isRefused: OF_EVENT.has(reason) }] as const] : [];
    });
  } catch (error) {
    // An event is too large. Other failures of a whole call are transient, or an admin resolves them.
    const isRefused = error instanceof Error && error.name === 'ValidationException';
    return changes.map((change) => [change, { ...change, reason: String(error), isRefused }] as const);
  }
}

/** Puts refused changes on the queue, in the function's input format. @returns the reason if that fails */
async function setAside({ record, reason }: Change): Promise<string | undefined> {
  try {
    const MessageBody = JSON.stringify({ Records: [record] });
    await queue.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));
  } catch (error) {
    return `${reason}, and the queue: ${String(error)}`;
  }
  logError('A stock change is on the queue, unpublished', new Error(reason), { sequence: sequenceOf(record) });
  return undefined;
}

const sequenceOf = ({ dynamodb }: DynamoDBRecord): string => dynamodb?.SequenceNumber ?? '';
