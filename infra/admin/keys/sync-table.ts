import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import { KeyTable } from '../../../shared/key-registry/key-table.ts';
import type { SyncReport } from '../../../shared/key-registry/mirror.ts';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { tagEnding } from './end-token.ts';

export interface SyncOrder {
  readonly force: boolean;
  /** Another keys table: one that was restored has to be closed to ended tokens before it is used. */
  readonly table?: string;
}

/** Takes over what API Gateway says about the keys. @throws AdminError where the table is not one of keys */
export async function syncTable(target: Target, { force, table }: SyncOrder): Promise<SyncReport> {
  const { gateway, documents, apiStage } = target;
  const keyTable = table === undefined ? target.keyTable : new KeyTable(documents, table);
  const mendTag = (keyId: string, tokensEndedAt: number) => tagEnding(target, { keyId, tokensEndedAt });
  try {
    return await syncKeys(gateway, keyTable, apiStage, { force, mendTag });
  } catch (error) {
    if (table !== undefined && error instanceof ResourceNotFoundException)
      throw new AdminError(`There is no table ${table} at ${target.place}.`);
    if (!v.isValiError(error)) throw error;
    throw new AdminError(`The table ${table ?? 'of keys'} has items that are no keys. Name a copy of the keys table.`);
  }
}
