import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { bundleInto } from '../../infra/stack/bundle.ts';
import type { DynamoDBParts } from '../../infra/stages.ts';
import { newClient } from './store-client.ts';

export type RequestHandlerSettings = Parameters<typeof newClient>[0];

/**
 * A client of the functions: with the whole SDK, or with its parts, as their bundles have them. It takes the same commands.
 * The settings are those of the SDK's HTTP handler.
 */
export function clientWith(dynamodb: DynamoDBParts, settings: RequestHandlerSettings): DynamoDBDocumentClient {
  if (dynamodb === 'whole') return newClient(settings);
  const { send } = bundled().newClient(settings);
  const client = {
    send: ({ clientCommand, input, inputKeyNodes, outputKeyNodes }: WholeCommand) =>
      send({ clientCommand: { operation: operationOf(clientCommand) }, input, inputKeyNodes, outputKeyNodes }),
    destroy: () => undefined,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all of it that stores use
  return client as unknown as DynamoDBDocumentClient;
}

/** A command of the whole SDK, as it is made in a test, without its protected parts. */
interface WholeCommand {
  readonly clientCommand: object;
  readonly input: object;
  readonly inputKeyNodes: object;
  readonly outputKeyNodes: object;
}

interface Bundled {
  readonly newClient: (settings: RequestHandlerSettings) => { readonly send: (command: object) => Promise<object> };
}

/** In a bundle a command knows it; the SDK's own is named after it. */
const operationOf = (clientCommand: object): string => clientCommand.constructor.name.replace(/Command$/, '');

let loaded: Bundled | undefined;

function bundled(): Bundled {
  if (loaded) return loaded;
  const folder = mkdtempSync(path.join(tmpdir(), 'client-'));
  bundleInto(folder, { client: path.join(import.meta.dirname, 'store-client.ts') }, 'parts');
  const module: Bundled = createRequire(import.meta.url)(path.join(folder, 'client', 'function.cjs'));
  rmSync(folder, { recursive: true });
  loaded = module;
  return module;
}
