import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { SigningSecret } from '../../../shared/stores/signing-secret.ts';
import { describeOnEachEngine, pointSdkAt } from '../../support/engines.ts';
import { FaultyEngine } from '../../support/faulty-engine.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { patientClient } from '../../support/patient-client.ts';
import { recordCalls } from '../../support/recorded-calls.ts';
import { createSecretsTable } from '../../support/tables.ts';

acceptForeignErrors();

describeOnEachEngine('A signing secret', () => {
  let client: DynamoDBDocumentClient;
  let tableName = '';

  beforeAll(() => {
    client = patientClient();
  });

  beforeEach(async () => {
    tableName = await createSecretsTable(client);
  });

  const secret = (name = 'cursors') => new SigningSecret(client, tableName, name);

  test('is made when it is first needed: 32 random bytes', async () => {
    const value = await secret().value();

    expect(value).toHaveLength(32);
    expect(new Set(value).size).toBeGreaterThan(8);
  });

  test('is the same after a restart', async () => {
    const value = await secret().value();

    expect(Buffer.from(await secret().value())).toEqual(Buffer.from(value));
  });

  test('is the one that lies in the table under its name', async () => {
    const value = await secret().value();
    const { Item } = await client.send(new GetCommand({ TableName: tableName, Key: { name: 'cursors' } }));

    expect(Object.keys(Item ?? {}).toSorted()).toEqual(['name', 'secret']);
    expect(Buffer.from(Item?.secret)).toEqual(Buffer.from(value));
  });

  test('is made once, though many environments need it at the same time', async () => {
    const values = await Promise.all(Array.from({ length: 20 }, () => secret().value()));

    expect(new Set(values.map((value) => Buffer.from(value).toString('hex'))).size).toBe(1);
    expect(Buffer.from(await secret().value())).toEqual(Buffer.from(values[0] ?? []));
  });

  test('is another one under another name, and in another table', async () => {
    const value = Buffer.from(await secret().value());
    const other = Buffer.from(await secret('others').value());
    const elsewhere = Buffer.from(await new SigningSecret(client, await createSecretsTable(client), 'cursors').value());

    expect(other).not.toEqual(value);
    expect(elsewhere).not.toEqual(value);
  });

  test('is made anew where it was deleted', async () => {
    const value = Buffer.from(await secret().value());
    await client.send(new DeleteCommand({ TableName: tableName, Key: { name: 'cursors' } }));

    expect(Buffer.from(await secret().value())).not.toEqual(value);
  });

  test('is read once in the life of an environment', async () => {
    await secret().value();
    const watched = patientClient();
    const calls = recordCalls(watched);
    const environment = new SigningSecret(watched, tableName, 'cursors');
    await Promise.all([environment.value(), environment.value()]);
    await environment.value();

    expect(calls.map(({ command }) => command)).toEqual(['GetItemCommand']);
  });

  test('is never made of what else lies there', async () => {
    await client.send(new PutCommand({ TableName: tableName, Item: { name: 'cursors', secret: 'by hand' } }));

    await expect(secret().value()).rejects.toThrow('Invalid');
  });
});

describe('A signing secret, where DynamoDB fails', () => {
  test('is told as an outage, and asked for again the next time', async () => {
    const engine = await FaultyEngine.start();
    pointSdkAt(Number(engine.endpoint.port));
    const client = patientClient();
    const secret = new SigningSecret(client, await createSecretsTable(client), 'cursors');

    engine.faults = () => ({ kind: 'hangUp' });
    await expect(secret.value()).rejects.toThrow(
      expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', headers: { 'Retry-After': '1' } }),
    );

    engine.faults = () => undefined;
    expect(await secret.value()).toHaveLength(32);
    client.destroy();
    await engine.stop();
  });
});
