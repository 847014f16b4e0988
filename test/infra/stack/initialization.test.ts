import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { FunctionError } from '../../../infra/local/lambda/lambda-functions.ts';
import { bundleFunctions, bundleInto, functionFiles } from '../../../infra/stack/bundle.ts';
import { pascalCase } from '../../../infra/stack/pascal-case.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { environmentAt } from '../../bench/execution-environment.ts';
import { testClient, pointSdkAt } from '../../support/engines.ts';
import { type Call, FaultyEngine } from '../../support/faulty-engine.ts';
import { aProxyEvent } from '../../support/proxy-event.ts';
import { grantsIn, policiesOf, readableStage } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import {
  anEntry,
  createKeysTable,
  createOrdersTable,
  createPetsTable,
  createChangesTable,
  createRequestsTable,
  StockTable,
} from '../../support/tables.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { runFunction } from '../local/test-functions.ts';

const ofOnePet = { resource: '/inventory/{petId}', pathParameters: { petId: '42' } };

const patch = { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: '{"quantity":5}' };
const authorized = {
  ...aProxyEvent({ headers: { Authorization: `Bearer ${generateToken()}` } }),
  methodArn: 'arn:aws:execute-api:us-east-1:000000000000:api/v1/GET/inventory',
};

/** Functions, an event of each, and the text in its response with DynamoDB. */
const functions: readonly [name: string, event: object, response: string][] = [
  ['authorizer', authorized, '"Effect":"Deny"'],
  ['list-inventory', aProxyEvent(), '"statusCode":200'],
  ['update-inventory', aProxyEvent({ ...ofOnePet, ...patch }), '"statusCode":200'],
  ['get-pet', aProxyEvent({ ...ofOnePet, resource: '/pets/{petId}' }), '"statusCode":404'],
  ['list-orders', aProxyEvent({ resource: '/store/orders' }), '"statusCode":200'],
  ['fallback', aProxyEvent({ resource: '/{proxy+}' }), '"statusCode":404'],
];

const policies = policiesOf(readableStage('staging'));

/** The calls of tables that the role of a function grants, such as `PutItem on <TablesRequests.Arn>`. */
const granted = (name: string): string[] =>
  grantsIn(policies, `Functions${pascalCase(name)}Role`)
    .filter((grant) => grant.startsWith('dynamodb:'))
    .map((grant) => grant.replace('dynamodb:', ''));

const inputSchema = v.object({
  TableName: v.optional(v.string()),
  RequestItems: v.optional(v.record(v.string(), v.unknown()), {}),
  TransactItems: v.optional(v.array(v.record(v.string(), v.object({ TableName: v.string() }))), []),
});

/** What a call needs to be granted: for a transaction, each of its writes. */
function neededBy({ action, body }: Call): string[] {
  const { TableName = [], RequestItems, TransactItems } = v.parse(inputSchema, JSON.parse(body));
  const calls = [TableName, Object.keys(RequestItems)].flat().map((table) => [action, table]);
  const writes = TransactItems.flatMap(Object.entries).map(([write, on]) => [`${write}Item`, on.TableName]);
  return [...calls, ...writes].map(([call, table]) => {
    const variable = Object.keys(variables).find((name) => variables[name] === table) ?? '';
    return `${call} on <Tables${pascalCase(variable.replace('_TABLE', '').toLowerCase())}.Arn>`;
  });
}

let engine: FaultyEngine;
let stock: StockTable;
let variables: Record<string, string>;
const scratch = temporaryDirectory();
const bundleOf = (name: string): string => path.join(scratch, name);

beforeAll(async () => {
  bundleFunctions(scratch, Object.keys(functionFiles()));
  engine = await FaultyEngine.start();
  pointSdkAt(engine.endpoint);
  const client = testClient();
  stock = await StockTable.create(client);
  await stock.put(anEntry('42', 1));
  // The id that a check reads and tries to update.
  await stock.put(anEntry('0', 1));
  variables = {
    ...environmentAt(engine.endpoint),
    STOCK_TABLE: stock.name,
    KEYS_TABLE: await createKeysTable(client),
    PETS_TABLE: await createPetsTable(client),
    ORDERS_TABLE: await createOrdersTable(client),
    CHANGES_TABLE: await createChangesTable(client),
    REQUESTS_TABLE: await createRequestsTable(client),
  };
});

afterAll(() => engine.stop());

const deploy = (name: string, others: Readonly<Record<string, string>> = {}) =>
  runFunction(bundleOf(name), { variables: { ...variables, ...others } });

const codeIn = (directory: string): string => readFileSync(path.join(directory, 'function.cjs'), 'utf8');

test('Bundles are reproducible: a deployment without a change changes no function', () => {
  const assets = readdirSync(synthesizedOnce()).map((name) => path.join(synthesizedOnce(), name));
  const inAssembly = assets.filter((asset) => existsSync(path.join(asset, 'function.cjs'))).map(codeIn);

  expect(new Set(Object.keys(functionFiles()).map((name) => codeIn(bundleOf(name))))).toEqual(new Set(inAssembly));
});

test('A changed comment changes the source map, but not the deployed bundle', () => {
  const source = 'export const handler = () => { throw new Error("here"); };';
  const [one, other] = [source, `// A comment\n${source}`].map((code, at) => {
    const file = path.join(scratch, `${at}.ts`);
    writeFileSync(file, code);
    bundleInto(path.join(scratch, `${at}`), { made: file });
    const assets = path.join(scratch, `${at}`, 'made');
    return { files: readdirSync(assets), code: codeIn(assets), map: readFileSync(`${assets}.map`, 'utf8') };
  });

  expect(other).toMatchObject({ files: ['function.cjs', 'index.mjs'], code: one?.code });
  expect(other?.map).not.toBe(one?.map);
});

test.each(Object.keys(functionFiles()))(
  'The bundle of %s is within its size limit, and has only the clients that it uses',
  (name) => {
    const code = codeIn(bundleOf(name));

    // These have the SDK as it is (420 kB), and no request waits for them.
    const isWhole = ['publish-stock-changes', 'sync-keys'].includes(name);
    expect(Buffer.byteLength(code)).toBeLessThan(isWhole ? 450_000 : 100_000);
    expect(code).not.toMatch(/\bimport\(/);
    expect(code.includes('DynamoDB_20120810')).toBe(!['fallback', 'get-key'].includes(name));
    expect(code.includes('BackplaneControlService')).toBe(name === 'sync-keys');
    // The schemas of records are of those that list: the authorizer has the routes alone.
    expect(code.includes('shipDate')).toBe(['list-inventory', 'list-orders'].includes(name));
  },
);

test.each(functions)(
  '%s fails its check only while DynamoDB is unavailable, then serves without a restart',
  async (name, event, reached) => {
    const callsNothing = granted(name).length === 0;
    const lambda = deploy(name);
    const request = JSON.stringify(event);
    const response = () => (name.startsWith('list-') ? text(lambda.stream(request)) : lambda.invoke(request));
    await engine.disconnect();
    expect(await response()).toMatch(callsNothing ? reached : /"statusCode":503|SERVICE_UNAVAILABLE/);
    const check = await lambda.invoke('{}').catch((error: unknown) => error);
    await engine.reconnect();
    expect(check instanceof FunctionError).toBe(!callsNothing);

    await expect(lambda.invoke('{}')).resolves.toMatch(/^(?:null)?$/);
    expect(await stock.read('0')).toMatchObject({ quantity: 1 });
    expect(await response()).toContain(reached);
    // Once: the environment that could not reach it is the one that serves.
    expect(lambda.log().match(/initDurationMs/g)).toHaveLength(1);
  },
);

test.each(Object.keys(functionFiles()).filter((name) => !['publish-stock-changes', 'sync-keys'].includes(name)))(
  'The check of %s tries every call of a table that its role grants',
  async (name) => {
    const lambda = deploy(name);
    const before = engine.calls.length;
    await lambda.invoke('{}');
    const needed = engine.calls.slice(before).flatMap(neededBy);

    expect([...new Set(needed)].toSorted()).toEqual(granted(name).toSorted());
  },
);

test('The check of update-inventory fails if the requests table is missing', async () => {
  const lambda = deploy('update-inventory', { REQUESTS_TABLE: 'no-such-table' });

  await expect(lambda.invoke('{}')).rejects.toThrow('ResourceNotFoundException');
});

test('The probe opens the connection before the first request, changes nothing and is not logged', async () => {
  const calls = engine.calls.length;
  const refused = aProxyEvent({ ...ofOnePet, method: 'PATCH', body: 'no JSON' });
  const lambda = deploy('update-inventory');

  expect(await lambda.invoke(JSON.stringify(refused))).toContain('"statusCode":415');
  await until('the request is logged', () => lambda.log().includes('"message":"Request"'));
  expect(engine.actions.slice(calls)).toEqual(['TransactWriteItems']);
  expect(lambda.log().match(/"message":"Request"/g)).toHaveLength(1);
  expect(lambda.log()).toContain('"coldStart":true');
  expect(await stock.read('0')).toMatchObject({ quantity: 1 });
});
