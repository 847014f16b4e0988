import { randomUUID } from 'node:crypto';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type KeyRecord, parseKeyRecord } from '../../shared/keys/key-record.ts';
import { generateToken } from '../../shared/keys/token.ts';
import { templatePlanOf } from '../../infra/local/prepare-data.ts';
import { anApiKey } from './gateway-records.ts';
import { aKey, parsed } from './tables.ts';
import type { LocalHost } from './local-host.ts';

/** A key of a local server, with its record in the keys table, and its only token. */
export class IssuedKey {
  /** What the service does not store. */
  readonly token: string;
  readonly #host: LocalHost;
  readonly #recordId: string;

  constructor(host: LocalHost, token: string) {
    this.token = token;
    this.#host = host;
    this.#recordId = parsed(token).recordId;
  }

  async read(): Promise<KeyRecord> {
    const { documents, keysTable } = this.#host;
    const { Item } = await documents.send(
      new GetCommand({ TableName: keysTable, Key: { recordId: this.#recordId }, ConsistentRead: true }),
    );
    return parseKeyRecord(Item, this.#host.keysTable);
  }

  async put(record: KeyRecord): Promise<void> {
    await this.#host.documents.send(new PutCommand({ TableName: this.#host.keysTable, Item: record }));
  }
}

/** Limits that no test comes near. */
const PLENTY = { perMinute: 1_000, perDay: 1_000 };

/**
 * Issues a key as an admin would: a record in the keys table and a place on the usage plan of its plan. By default it
 * is an Enterprise key with more room than a test needs.
 */
export async function issueKey(
  host: LocalHost,
  differences: Partial<KeyRecord> = {},
  token: string = generateToken(),
): Promise<IssuedKey> {
  const keyId = randomUUID();
  const record = aKey({ keyId, plan: 'enterprise', ...PLENTY, ...differences }, token);
  host.issuedKeys.add(token);
  putOnUsagePlan(host, record, token);
  const key = new IssuedKey(host, token);
  await key.put(record);
  return key;
}

function putOnUsagePlan({ host }: LocalHost, { keyId = '', plan }: KeyRecord, token: string): void {
  const { records } = host;
  const usagePlan = templatePlanOf(records, plan);
  if (!usagePlan) throw new Error(`The server has no usage plan for ${plan}`);
  records.putApiKey(anApiKey({ id: keyId, value: parsed(token).usageIdentifier, planId: usagePlan.id }));
}
