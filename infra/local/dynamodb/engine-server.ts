import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import dynalite from 'dynalite';
import conditionParser from 'dynalite/db/conditionParser.js';
import db, { type ItemStore, type Store } from 'dynalite/db/index.js';
import projectionParser from 'dynalite/db/projectionParser.js';
import updateParser from 'dynalite/db/updateParser.js';
import deleteItem from 'dynalite/validations/deleteItem.js';
import putItem from 'dynalite/validations/putItem.js';
import updateItem from 'dynalite/validations/updateItem.js';
import { messageOf } from '../../../shared/log.ts';
import { type Grant, iamDenial } from '../iam.ts';
import { cacheParsed } from './cache-parsed.ts';
import { isApiError, transactWriteItems } from './transact-write-items.ts';

/** The functions that {@link patchedDynalite} replaces. */
const { checkConditional, create } = db;
for (const parser of [conditionParser, projectionParser, updateParser]) cacheParsed(parser);

export interface EngineServerOptions {
  /** Directory of the store; in memory without one. */
  readonly directory: string | undefined;
  /** Whether a missing store is an error, instead of being created. */
  readonly mustExist: boolean;
  /** Permissions of callers, by path; calls with other paths are refused. */
  readonly callers: Map<string, readonly Grant[]>;
}

/**
 * dynalite with additions: roles, the old item of a failed condition, and TransactWriteItems.
 *
 * @throws if the store cannot be opened, such as one that another process uses
 */
export async function createEngineServer({ directory, mustExist, callers }: EngineServerOptions): Promise<Server> {
  const { server, store } = patchedDynalite(directory);
  await store.db.open({ createIfMissing: !mustExist });
  await dropUnfinishedTables(store);
  writeOneAtATime(store);
  const [dynaliteListener] = server.listeners('request');
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = '', headers } = request;
    const grants = callers.get(url);
    if (!grants) return void response.writeHead(404).end();
    const body = await text(request);
    const [, operation = ''] = String(headers['x-amz-target']).split('.');
    const denial = iamDenial(grants, operation, body);
    if (denial !== undefined)
      return send(response, 400, { __type: 'com.amazon.coral.service#AccessDeniedException', Message: denial });
    if (operation === 'TransactWriteItems')
      return send(response, 200, await transactWriteItems(store, JSON.parse(body)));
    // dynalite would allow pages of any origin to read its responses.
    delete headers.origin;
    const again = Object.assign(new EventEmitter(), { method, url, headers });
    if (dynaliteListener) Reflect.apply(dynaliteListener, server, [again, response]);
    again.emit('data', body);
    again.emit('end');
  };
  server.removeAllListeners('request');
  return server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    serve(request, response).catch((error: unknown) => {
      if (isApiError(error)) return send(response, error.statusCode, error.body);
      const fault = { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message: messageOf(error) };
      send(response, 500, fault);
    });
  });
}

/**
 * dynalite with two functions of its modules replaced, as it has no hooks: the check of a condition, whose failure then
 * returns the old item if requested, and the creation of the store, which transactions need.
 */
function patchedDynalite(directory: string | undefined): { server: Server; store: Store } {
  for (const { types } of [putItem, updateItem, deleteItem]) {
    types['ReturnValuesOnConditionCheckFailure'] = { type: 'String', enum: ['ALL_OLD', 'NONE'] };
  }
  db.checkConditional = (data, existing) => {
    reuseEqualMembers(Object.values(data.ExpressionAttributeValues ?? {}), Object.values(existing ?? {}));
    const failure = checkConditional(data, existing);
    if (failure && existing && data.ReturnValuesOnConditionCheckFailure === 'ALL_OLD') failure.body.Item = existing;
    return failure;
  };
  const store = create({ path: directory, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  closeIterators(store);
  db.create = () => store;
  return { server: dynalite(), store };
}

/** Serializes all writes of a store: one lock instead of one per item. */
function writeOneAtATime(store: Store): void {
  const getItemDb = store.getItemDb.bind(store);
  const gate = getItemDb('gate');
  const lock: ItemStore['lock'] = (_key, run) => gate.lock('', run);
  store.getItemDb = (table) => Object.assign(getItemDb(table), { lock });
}

/**
 * Drops tables that a killed server was creating: the engine would treat them as unfinished forever, and
 * neither use nor delete them. They are empty.
 */
async function dropUnfinishedTables({ db: level }: Store): Promise<void> {
  for await (const [key, { TableStatus }] of level.iterator({ gte: 'table~', lt: 'table~\u00ff' })) {
    if (TableStatus === 'CREATING') await level.del(key);
  }
}

/**
 * Gives each map or list among the values of a condition the members of an equal attribute: dynalite's conditions
 * compare maps and lists by identity, so that an equal one would differ.
 */
function reuseEqualMembers(values: readonly object[], attributes: readonly unknown[]): void {
  for (const value of values.filter((each) => 'M' in each || 'L' in each)) {
    const equal = attributes.find((attribute) => isDeepStrictEqual(attribute, value));
    Object.assign(value, equal);
  }
}

/**
 * Closes the iterators of dynalite's queries: it calls `return`, which those of its store do not have. Each that
 * stays open holds its part of the store in memory.
 */
function closeIterators({ db: level }: Store): void {
  for (const open of ['keys', 'values'] as const) {
    const original = level[open].bind(level);
    level[open] = (options) => {
      const iterator = original(options);
      return Object.assign(iterator, { return: () => iterator.close() });
    };
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
}
