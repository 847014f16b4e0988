import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import dynalite from 'dynalite';
import db, { type Store } from 'dynalite/db/index.js';
import deleteItem from 'dynalite/validations/deleteItem.js';
import putItem from 'dynalite/validations/putItem.js';
import updateItem from 'dynalite/validations/updateItem.js';
import { isApiError } from './api-error.ts';
import { TransactWriteItems } from './transact-write-items.ts';

/** What {@link patchedDynalite} replaces. */
const { checkConditional, create } = db;

export interface EngineServerOptions {
  /** Folder of the store; in memory without one. */
  readonly folder?: string | undefined;
  /** Path of every call; calls with another are refused. By default that of DynamoDB. */
  readonly callPath?: string;
}

/** dynalite with what it lacks of DynamoDB: the old item in a condition that failed, and TransactWriteItems. */
export function createEngineServer({ folder, callPath = '/' }: EngineServerOptions = {}): Server {
  const { server, store } = patchedDynalite(folder);
  const transactions = new TransactWriteItems(store);
  const listeners = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    // dynalite would let a page of any origin read its answers.
    delete request.headers.origin;
    if (request.url !== callPath) response.writeHead(404).end();
    else if (request.headers['x-amz-target'] === 'DynamoDB_20120810.TransactWriteItems') {
      void answer(request, response, transactions);
    } else for (const listener of listeners) Reflect.apply(listener, server, [request, response]);
  });
  return server;
}

/**
 * dynalite with functions of its modules replaced, which it looks up there at every call; it has no other place for them:
 * the check of a condition, whose failure brings the old item where the request asks for it, and the making of the store,
 * which transactions use too.
 */
function patchedDynalite(folder: string | undefined): { server: Server; store: Store } {
  for (const { types } of [putItem, updateItem, deleteItem]) {
    types['ReturnValuesOnConditionCheckFailure'] = { type: 'String', enum: ['ALL_OLD', 'NONE'] };
  }
  db.checkConditional = (data, existing) => {
    const failure = checkConditional(data, existing);
    if (existing && data.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && isApiError(failure)) {
      failure.body.Item = existing;
    }
    return failure;
  };
  const path = folder === undefined ? {} : { path: folder };
  const store = create({ ...path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  closeIterators(store);
  db.create = () => store;
  return { server: dynalite(), store };
}

/**
 * Lets dynalite close the iterators of its queries: it calls `return`, which those of its store do not have. Each that
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

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  transactions: TransactWriteItems,
): Promise<void> {
  try {
    send(response, 200, await transactions.call(await json(request)));
  } catch (error) {
    if (isApiError(error)) send(response, error.statusCode, error.body);
    else {
      const message = error instanceof Error ? error.message : String(error);
      send(response, 500, { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message });
    }
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  const answerText = JSON.stringify(body);
  response
    .writeHead(status, {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-crc32': crc32(answerText),
      'x-amzn-requestid': randomUUID(),
    })
    .end(answerText);
}
