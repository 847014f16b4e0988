import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { NEVER } from '../../../shared/keys/key-record.ts';
import { HostError } from '../host-error.ts';
import type { Engine } from './engine.ts';
import { createTables, type TableSettings } from './tables.ts';

export const CLAIM_TABLE = 'pet-store-local-host';

/** Has one item: which host uses the engine, until when, and which state of API Gateway its tables belong to. */
const table: TableSettings = {
  TableName: CLAIM_TABLE,
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
};

/** A claim is renewed every second, and ends five seconds after its host was killed. */
const RENEWAL_MS = 1_000;
const CLAIM_MS = 5_000;

/** Keeps other hosts off an engine until it is released, or its host is killed. */
export interface EngineClaim {
  /** Of the state that the tables belong to; undefined where they are new. */
  readonly stateId: string | undefined;
  /** Makes the tables those of a state. */
  setStateId(id: string): Promise<unknown>;
  release(): Promise<void>;
}

/** @throws HostError where another host uses the engine; a host that was suspended may find that only later */
export async function claimEngine(
  client: DynamoDBDocumentClient,
  { isEmbedded, endpoint }: Pick<Engine, 'isEmbedded' | 'endpoint'>,
): Promise<EngineClaim> {
  const seconds = CLAIM_MS / 1_000;
  const inUse = new HostError(
    `Another host uses the DynamoDB engine at ${endpoint.origin}. ` +
      `Stop it; if it was killed, start again in ${seconds} seconds.`,
  );
  const holder = randomUUID();
  const update = (input: Omit<UpdateCommandInput, 'TableName' | 'Key'>) =>
    client.send(new UpdateCommand({ TableName: CLAIM_TABLE, Key: { id: 'claim' }, ReturnValues: 'ALL_NEW', ...input }));
  // An embedded engine ends with its host, and its store has a lock of its own: an older claim in it is over.
  const hold = (forMs: number, now = isEmbedded ? NEVER : Date.now()) =>
    update({
      UpdateExpression: 'SET holder = :holder, heldUntil = :until',
      ConditionExpression: 'attribute_not_exists(holder) OR holder = :holder OR heldUntil <= :now',
      ExpressionAttributeValues: { ':holder': holder, ':until': isEmbedded ? NEVER : now + forMs, ':now': now },
    }).catch((error: unknown) => {
      throw error instanceof ConditionalCheckFailedException ? inUse : error;
    });
  const renew = () =>
    hold(CLAIM_MS).catch((error: unknown) => {
      // An engine that is unavailable is reported by the requests that need it.
      if (error === inUse) throw error;
    });

  await createTables(client, [table]);
  const { Attributes: { stateId } = {} } = await hold(CLAIM_MS);
  let renewing: Promise<unknown> = Promise.resolve();
  const timer = isEmbedded ? undefined : setInterval(() => void (renewing = renew()), RENEWAL_MS).unref();
  return {
    stateId: stateId && String(stateId),
    setStateId: (id) => update({ UpdateExpression: 'SET stateId = :id', ExpressionAttributeValues: { ':id': id } }),
    release: async () => {
      clearInterval(timer);
      await renewing;
      await hold(0).catch(() => undefined);
    },
  };
}
