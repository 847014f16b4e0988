import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as v from 'valibot';
import { petStatusSchema } from '../contract/inventory.ts';
import { exactNumbers, int64AttributeSchema, reachingDynamoDB, safeNumberSchema } from '../dynamodb.ts';
import type { UpdateOutcome } from './stock-store.ts';

/** How long the answer to a request is kept. */
const KEPT_MS = 24 * 60 * 60 * 1_000;

/** Condition: nothing is known yet of what came of it. */
const OPEN = 'attribute_not_exists(outcome)';

const outcomeSchema = v.variant('kind', [
  v.object({
    kind: v.literal('updated'),
    entry: v.object({ petId: int64AttributeSchema, quantity: safeNumberSchema, status: petStatusSchema }),
    revision: v.exactOptional(safeNumberSchema),
  }),
  v.object({ kind: v.literal('stale'), revision: safeNumberSchema }),
  v.object({ kind: v.literal('absent') }),
]);

const requestSchema = v.object({
  requestId: v.string(),
  fingerprint: v.string(),
  lockedUntil: safeNumberSchema,
  baseRevision: v.optional(safeNumberSchema),
  outcome: v.optional(outcomeSchema),
});

/** A request with an `Idempotency-Key`, as it is remembered. */
export interface RememberedRequest {
  /** Unguessable: of the API key and the idempotency key together. */
  readonly requestId: string;
  /** Of all that the request asks for. */
  readonly fingerprint: string;
  /** Unix milliseconds until which somebody is at work on it. */
  readonly lockedUntil: number;
  /** The version of the stock entry that it updates; undefined where there was none. */
  readonly baseRevision: number | undefined;
  /** What came of it; undefined while that is open. */
  readonly outcome: UpdateOutcome | undefined;
}

/** Remembers requests with an `Idempotency-Key` for 24 hours. */
export class RequestStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /**
   * Remembers a new request.
   *
   * @param now Unix milliseconds
   * @returns the request that is remembered already; undefined where this is the first
   */
  async begin(request: Omit<RememberedRequest, 'outcome'>, now: number): Promise<RememberedRequest | undefined> {
    const seconds = Math.floor(now / 1_000);
    try {
      await reachingDynamoDB(
        this.#client.send(
          new PutCommand({
            TableName: this.#tableName,
            Item: definedOnly({ ...request, expiresAt: seconds + KEPT_MS / 1_000 }),
            // DynamoDB takes its time with what has expired.
            ConditionExpression: 'attribute_not_exists(requestId) OR expiresAt <= :now',
            ExpressionAttributeValues: { ':now': seconds },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      );
      return undefined;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const item = error.Item ? unmarshall(error.Item, { ...exactNumbers }) : await this.#read(request.requestId);
      return parseRequest(item);
    }
  }

  /** Goes on with a request that nobody is at work on any more. @returns false where somebody else was faster */
  takeOver({ requestId, lockedUntil, baseRevision }: RememberedRequest, until: number): Promise<boolean> {
    // One that was thought gone may have moved on to another version since.
    const sameBase = baseRevision === undefined ? 'attribute_not_exists(baseRevision)' : 'baseRevision = :base';
    return this.#updateIf(requestId, 'SET lockedUntil = :until', `lockedUntil = :before AND ${sameBase} AND ${OPEN}`, {
      ':until': until,
      ':before': lockedUntil,
      ...(baseRevision !== undefined && { ':base': baseRevision }),
    });
  }

  /** Moves a request on to a later version of the stock entry. @returns false where it was taken over meanwhile */
  rebase(requestId: string, lockedUntil: number, baseRevision: number): Promise<boolean> {
    return this.#updateIf(requestId, 'SET baseRevision = :base', `lockedUntil = :lock AND ${OPEN}`, {
      ':base': baseRevision,
      ':lock': lockedUntil,
    });
  }

  /** Keeps what came of a request. @returns what is kept: that of another try where it was faster */
  async complete(requestId: string, outcome: UpdateOutcome): Promise<UpdateOutcome> {
    const kept =
      outcome.kind === 'updated'
        ? definedOnly({ ...outcome, entry: { ...outcome.entry, petId: BigInt(outcome.entry.petId) } })
        : outcome;
    if (await this.#updateIf(requestId, 'SET outcome = :outcome', OPEN, { ':outcome': kept })) return outcome;
    const item = await this.#read(requestId);
    return (item && parseRequest(item).outcome) ?? outcome;
  }

  /** Lets the next try go on at once, after one that failed with its outcome open. */
  async release(requestId: string, lockedUntil: number): Promise<void> {
    await this.#updateIf(requestId, 'SET lockedUntil = :none', 'lockedUntil = :lock', {
      ':none': 0,
      ':lock': lockedUntil,
    });
  }

  async #updateIf(
    requestId: string,
    update: string,
    condition: string,
    values: Record<string, unknown>,
  ): Promise<boolean> {
    try {
      await reachingDynamoDB(
        this.#client.send(
          new UpdateCommand({
            TableName: this.#tableName,
            Key: { requestId },
            UpdateExpression: update,
            ConditionExpression: `attribute_exists(requestId) AND ${condition}`,
            ExpressionAttributeValues: values,
          }),
        ),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  }

  async #read(requestId: string): Promise<Record<string, unknown> | undefined> {
    const { Item } = await reachingDynamoDB(
      this.#client.send(new GetCommand({ TableName: this.#tableName, Key: { requestId }, ConsistentRead: true })),
    );
    return Item;
  }
}

/** DynamoDB has no undefined. */
function definedOnly(item: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined));
}

function parseRequest(item: unknown): RememberedRequest {
  const { baseRevision, outcome, ...request } = v.parse(requestSchema, item);
  return { ...request, baseRevision, outcome };
}
