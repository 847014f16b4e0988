import { setTimeout as sleep } from 'node:timers/promises';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { readInBatches } from '../../../shared/stores/batch-read.ts';
import { int64AttributeSchema } from '../../../shared/dynamodb.ts';
import { writeItems } from '../../../infra/write-items.ts';
import { pointSdkAt } from '../../support/engines.ts';
import { type Call, dynamoDBError, type Fault, FaultyEngine } from '../../support/faulty-engine.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { MAX_INT64, MIN_INT64 } from '../../support/int64.ts';
import { patientClient } from '../../support/patient-client.ts';
import { createPetsTable } from '../../support/tables.ts';

acceptForeignErrors();

const keyOf = (petId: number | string) => ({ petId: BigInt(petId) });
const keys = (count: number) => Array.from({ length: count }, (_, index) => keyOf(index));

const idSchema = v.object({ petId: int64AttributeSchema });
const batchSchema = v.object({ RequestItems: v.record(v.string(), v.object({ Keys: v.array(v.unknown()) })) });

/** The keys that a call asks for. */
const askedFor = ({ body }: Call): unknown[] =>
  Object.values(v.parse(batchSchema, JSON.parse(body)).RequestItems).flatMap(({ Keys }) => Keys);

/** The answer of a DynamoDB that is too busy for any key. */
function tooBusy({ body }: Call): Fault {
  const { RequestItems } = v.parse(batchSchema, JSON.parse(body));
  return { kind: 'answer', status: 200, body: { Responses: {}, UnprocessedKeys: RequestItems } };
}

describe('Reading in batches', () => {
  let engine: FaultyEngine;
  let client: DynamoDBDocumentClient;
  let tableName = '';
  /** Calls right now, and at any time. */
  const meter = { underWay: 0, most: 0 };

  beforeAll(async () => {
    engine = await FaultyEngine.start();
    pointSdkAt(Number(engine.endpoint.port));
    client = patientClient();
    client.middlewareStack.add(
      (next) => async (args) => {
        meter.most = Math.max(meter.most, ++meter.underWay);
        return next(args).finally(() => {
          meter.underWay -= 1;
        });
      },
      { step: 'initialize' },
    );
    tableName = await createPetsTable(client);
    await writeItems(client, tableName, keys(450), (key) => key);
  });

  afterEach(() => {
    engine.faults = () => undefined;
  });

  afterAll(async () => {
    client.destroy();
    await engine.stop();
  });

  /** The sizes of the batches that are read from now on. */
  function recordBatches(): number[] {
    const sizes: number[] = [];
    engine.faults = (call) => {
      if (call.action === 'BatchGetItem') sizes.push(askedFor(call).length);
      return undefined;
    };
    return sizes;
  }

  async function idsOf(wanted: readonly Record<string, unknown>[]): Promise<string[]> {
    const items = await readInBatches(client, tableName, wanted);
    return items.map((item) => v.parse(idSchema, item).petId).toSorted((a, b) => Number(a) - Number(b));
  }

  test.each([
    [0, []],
    [1, [1]],
    [100, [100]],
    [101, [100, 1]],
    [400, [100, 100, 100, 100]],
    [401, [100, 100, 100, 100, 1]],
  ])('of %d items takes batches of %j', async (count, batches) => {
    const sizes = recordBatches();

    expect(await idsOf(keys(count))).toEqual(keys(count).map(({ petId }) => String(petId)));
    expect(sizes.toSorted((a, b) => b - a)).toEqual(batches);
  });

  test('has at most four calls under way', async () => {
    meter.most = 0;
    await readInBatches(client, tableName, keys(1_000));

    expect(meter.most).toBe(4);
  });

  test('leaves out what is not there', async () => {
    expect(await idsOf([keyOf(1), keyOf(-1), keyOf(2)])).toEqual(['1', '2']);
  });

  test('reads the largest and the smallest ids', async () => {
    await writeItems(client, tableName, [keyOf(MAX_INT64), keyOf(MIN_INT64)], (key) => key);

    expect(await idsOf([keyOf(MAX_INT64), keyOf(MIN_INT64)])).toEqual([MIN_INT64, MAX_INT64]);
  });

  test('asks again for what DynamoDB has left, as large items do not fit into one answer', async () => {
    const large = [1_001, 1_002, 1_003, 1_004, 1_005, 1_006].map(keyOf);
    for (const key of large) {
      await client.send(new PutCommand({ TableName: tableName, Item: { ...key, note: 'x'.repeat(300_000) } }));
    }
    const sizes = recordBatches();

    expect(await idsOf(large)).toEqual(large.map(({ petId }) => String(petId)));
    expect(sizes.length).toBeGreaterThan(1);
  });

  test('asks again for what it was too busy for, and for nothing else', async () => {
    const asked: unknown[][] = [];
    engine.faults = (call) => {
      if (call.action !== 'BatchGetItem') return undefined;
      asked.push(askedFor(call));
      return asked.length < 3 ? tooBusy(call) : undefined;
    };

    expect(await idsOf(keys(3))).toEqual(['0', '1', '2']);
    expect(asked).toEqual([asked[0], asked[0], asked[0]]);
  });

  test('gives up on a DynamoDB that stays too busy, and says so', async () => {
    let calls = 0;
    engine.faults = (call) => {
      calls += 1;
      return tooBusy(call);
    };

    await expect(idsOf(keys(3))).rejects.toThrow(
      expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', status: 503, headers: { 'Retry-After': '1' } }),
    );
    expect(calls).toBe(6);
  });

  test.each<[string, Fault]>([
    ['throttles', dynamoDBError(400, 'ProvisionedThroughputExceededException')],
    ['fails', dynamoDBError(500, 'InternalServerError')],
    ['hangs up', { kind: 'hangUp' }],
  ])('of which one batch fails fails as a whole, and reads no further, where DynamoDB %s', async (_, fault) => {
    let calls = 0;
    engine.faults = () => (++calls === 1 ? fault : undefined);

    await expect(idsOf(keys(5_000))).rejects.toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }));
    while (meter.underWay > 0) await sleep(1);
    expect(calls).toBeLessThan(10);
  });
});
