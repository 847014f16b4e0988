import { type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Int64 } from '../../../shared/contract/int64.ts';
import type { PetRecord } from '../../../shared/contract/pets.ts';
import { int64AttributeSchema } from '../../../shared/dynamodb.ts';
import { petItemSchema } from '../../../shared/stores/find-pet.ts';
import { itemsOf } from '../../../shared/stores/sorted-table.ts';
import type { RecordList } from './record-kinds.ts';

/** What one BatchGetItem call takes. */
const BATCH_SIZE = 100;

const keySchema = v.object({ petId: int64AttributeSchema });

/** The pets of the store. Their table has no order: all ids are in memory for a while, and 100 pets. */
export function petList(client: DynamoDBDocumentClient, tableName: string): RecordList<PetRecord> {
  const read = async (ids: readonly bigint[]): Promise<readonly PetRecord[]> => {
    const keys = ids.map((petId) => ({ petId }));
    const found = (await itemsOf(client, tableName, keys)).map((item) => v.parse(petItemSchema, item));
    const byId = new Map(found.map((pet) => [BigInt(pet.id), pet]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  };
  return {
    async *all() {
      const ids: bigint[] = [];
      const scan = { TableName: tableName, ProjectionExpression: 'petId' };
      for await (const { Items = [] } of paginateScan({ client }, scan))
        for (const item of Items) ids.push(BigInt(v.parse(keySchema, item).petId));
      ids.sort((a, b) => (a < b ? -1 : 1));
      for (let at = 0; at < ids.length; at += BATCH_SIZE) yield await read(ids.slice(at, at + BATCH_SIZE));
    },
    byIds: (ids: readonly Int64[]) => read(ids.map(BigInt)),
  };
}
