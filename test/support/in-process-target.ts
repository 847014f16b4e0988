import { AsyncLocalStorage } from 'node:async_hooks';
import { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { buildQueryString, type HttpRequest } from '@smithy/core/protocols';
import type { Target } from '../../infra/admin/service/target.ts';
import { createControlPlane } from '../../infra/local/control-plane/control-plane.ts';
import { type ApiKey, GatewayRecords } from '../../infra/local/control-plane/gateway-records.ts';
import { account, localCredentials } from '../../infra/local-endpoint.ts';
import { INTERNAL_PLAN, gatewayTags } from '../../shared/key-registry/gateway-tags.ts';
import { KeyHistory } from '../../shared/key-registry/key-history.ts';
import { KeyUsage } from '../../shared/key-registry/key-usage.ts';
import { KeyTable } from '../../shared/key-registry/key-table.ts';
import { MAIN_LABEL, tokenEntry } from '../../shared/key-registry/record-changes.ts';
import { type KeyRecord, tokenName, NO_EXPIRY, UNTIL_RESUMED } from '../../shared/keys/key-record.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import { planIds, plans } from '../../shared/keys/plans.ts';
import { generateToken, type Token } from '../../shared/keys/token.ts';
import { addToken, createKey, endToken, type NewToken, rotateKey } from '../../infra/admin/keys/tokens.ts';
import type { Inputs } from '../../infra/admin/keys/inputs.ts';
import { keyActions } from '../../infra/admin/keys/key-actions.ts';
import type { KeyView } from '../../infra/admin/keys/key-view.ts';
import { StockHistory } from '../../shared/stores/stock-history.ts';
import { syncKeys } from '../../shared/key-registry/key-sync.ts';
import { clientOver, type Commit, type Item, VirtualHistory, VirtualTable } from '../model/virtual-table.ts';
import { apiStage, aUsagePlan, signature } from './gateway-records.ts';
import { aKey } from './tables.ts';

export const KEYS_TABLE = 'keys';
const HISTORY_TABLE = 'history';
const USAGE_TABLE = 'usage';

const who = (): Promise<string> => Promise.resolve('ann');

/** What stands between a command and its calls. @param name of the call, such as `GetApiKeyCommand` */
export type Interception = <Answer>(perform: () => Promise<Answer>, name: string) => Promise<Answer>;

/**
 * API Gateway's control plane and a keys table as the admin command sees them, in this process and in memory: hundreds
 * of commands run in seconds, and each can be stopped before any of its calls.
 */
export class InProcessTarget {
  readonly records = new GatewayRecords();
  readonly target: Target;
  readonly #interception = new AsyncLocalStorage<Interception>();
  /** What happens once, right before the next call of a name. */
  readonly before = new Map<string, () => unknown>();

  /** The stored days that every query finds, the newest first. */
  usage: Item[] = [];
  #table = new VirtualTable();
  #history = new VirtualHistory();
  #oldLists = { until: 0, responses: new Map<string, Response>() };

  constructor() {
    const documents = clientOver(async (command, input) => {
      if (input['TableName'] === HISTORY_TABLE) return this.#history.execute(command, input);
      if (input['TableName'] === USAGE_TABLE) return { Items: this.usage, $metadata: {} };
      return this.#table.execute(command, input, { at: Date.now(), writer: 'admin' });
    });
    const controlPlane = createControlPlane(this.records, () => undefined);
    const gateway = gatewayOf(async (address, call) => {
      const { until, responses } = this.#oldLists;
      const isOld = call.method === 'GET' && /s\?/.test(address) && Date.now() < until;
      const response = (isOld && responses.get(address)) || (await controlPlane.request(address, call));
      if (isOld) responses.set(address, response.clone());
      return response;
    });
    for (const { middlewareStack } of [gateway, documents]) {
      // The control plane in this process checks no signature.
      for (const name of ['httpSigning', 'httpAuthScheme', 'getUserAgent', 'logger'])
        middlewareStack.remove(`${name}Middleware`);
      middlewareStack.add(
        (next, { commandName = '' }) =>
          async (args) => {
            const act = this.before.get(commandName);
            this.before.delete(commandName);
            await act?.();
            const intercept = this.#interception.getStore();
            const perform = () => next(args);
            return intercept ? intercept(perform, commandName) : perform();
          },
        { step: 'initialize' },
      );
    }
    const onLost = (error: unknown) => this.target.report(`Not recorded: ${String(error)}`);
    const history = new KeyHistory({ client: documents, tableName: HISTORY_TABLE, who, onLost });
    const keyTable = new KeyTable(documents, KEYS_TABLE, history);
    const others = { stock: '', pets: '', orders: '', requests: '', changes: '' };
    this.target = {
      gateway,
      gatewayOnce: gateway,
      documents,
      tables: { ...others, keys: KEYS_TABLE, history: HISTORY_TABLE, usage: USAGE_TABLE },
      history,
      stockHistory: new StockHistory({ client: documents, tableName: '', onLost }),
      who,
      apiStage,
      keyTable,
      usage: new KeyUsage(documents, USAGE_TABLE),
      maxEnterpriseLimits: { perMinute: 1_000, perDay: 10_000 },
      baseUrl: '',
      place: '',
      option: '',
      stage: undefined,
      report: () => undefined,
      pause: () => Promise.resolve(),
    };
  }

  /** Runs work whose calls are intercepted; those of the interception itself are not. */
  run<Result>(work: () => Promise<Result>, intercept: Interception): Promise<Result> {
    const outside: Interception = (perform, name) =>
      this.#interception.exit(() => intercept(() => this.#interception.exit(perform), name));
    return this.#interception.run(outside, work);
  }

  /** The records as they are, without a call. */
  get items(): KeyRecord[] {
    return this.#table.records;
  }

  /** The changes of the keys table that are written, the latest last. */
  get commits(): readonly Commit[] {
    return this.#table.commits;
  }

  /** From here on each list of API Gateway is as it was when it was first read, until a time (Unix milliseconds). */
  ageLists(until: number): void {
    this.#oldLists = { until, responses: new Map() };
  }

  /** Removes all keys; the usage plans are those of a new stack. */
  reset(): void {
    for (const { id } of this.records.apiKeys) this.records.deleteApiKey(id);
    this.records.plans.clear();
    for (const id of planIds)
      this.records.putUsagePlan(
        aUsagePlan({ id, name: `staging ${plans[id].title}`, tags: { [gatewayTags.plan]: id } }),
      );
    this.records.putUsagePlan(aUsagePlan({ id: 'overflow', tags: { [gatewayTags.plan]: INTERNAL_PLAN } }));
    this.#table = new VirtualTable();
    this.#history = new VirtualHistory();
    this.ageLists(0);
    this.before.clear();
  }

  /** Puts a key on a usage plan as `keys create` does, all at once. */
  async issue(record: KeyRecord, usagePlanId: string, tags: ApiKey['tags'] = {}): Promise<void> {
    const { recordId: value, keyId: id = '', name, createdAt } = record;
    const enabled = record.suspendedUntil < UNTIL_RESUMED;
    this.records.putApiKey({ id, value, name, enabled, createdAt, tags, planId: usagePlanId });
    await new KeyTable(this.target.documents, KEYS_TABLE).add(record);
  }

  close(): void {
    this.target.gateway.destroy();
    this.target.documents.destroy();
  }

  keys(): Promise<KeyRecord[]> {
    return this.target.keyTable.all(() => undefined);
  }

  /** The outcome of a request with a token, in an execution environment with an empty cache. */
  async verdict(token: Token): Promise<string> {
    return (await new Limiter(this.target.documents, KEYS_TABLE).admit(token, Date.now())).kind;
  }
}

function gatewayOf(respond: (address: string, call: RequestInit) => Promise<Response>): APIGatewayClient {
  return new APIGatewayClient({
    region: account.region,
    endpoint: 'http://localhost',
    credentials: localCredentials,
    maxAttempts: 1,
    requestHandler: {
      async handle({ method, path, query, body = null }: GatewayCall) {
        const call = { method, headers: { Authorization: signature }, body };
        const response = await respond(`${path}?${buildQueryString(query)}`, call);
        const headers = Object.fromEntries(response.headers);
        return { response: { statusCode: response.status, headers, body: await response.bytes() } };
      },
    },
  });
}

type GatewayCall = Pick<HttpRequest, 'method' | 'path' | 'query'> & {
  readonly body?: Uint8Array<ArrayBuffer> | string | null;
};

const HOUR_MS = 3_600_000;
const LATER = Date.UTC(2030, 0);
const AGREED = { perMinute: 900, perDay: 9_000 };
const limitTags = { [gatewayTags.perMinute]: '900', [gatewayTags.perDay]: '9000' };

/** A command of an admin, on the key with an id. @param subject as it was issued @returns the new token, if any */
type Command = (target: Target, id: string, subject?: KeyRecord) => Promise<unknown>;

/** The name of the keys in a test, so that one command comes across what another has left. */
export const NAME = 'acme';

/** All of a command that makes a token: the one that it shows is confirmed. */
export async function shown<Made extends NewToken>(making: Promise<Made>): Promise<Made> {
  const token = await making;
  await token.confirmShown();
  return token;
}

/** The name of the token with a label that a key has, and that has no end. */
export function nameLabeled(record: KeyRecord | undefined, label: string): string {
  const token = Object.values(record?.tokens ?? {}).find((each) => each.label === label && each.until === NO_EXPIRY);
  return token ? tokenName(token) : label;
}

/** Runs an action on a key, as the command and the console do. @returns the key after it */
export async function runAction(
  target: Target,
  name: string,
  id: string,
  values: Partial<Inputs> = {},
): Promise<KeyView> {
  // An action reads its own inputs only.
  const inputs: Inputs = JSON.parse(JSON.stringify(values));
  const result = await keyActions[name]?.run(target, inputs, id);
  if (result?.view) return result.view;
  throw new Error(`There is no action ${name}`);
}

export const commands = {
  create: (target) => shown(createKey(target, { name: NAME, plan: 'free', limits: plans.free.limits })),
  'create for Enterprise': (target) => shown(createKey(target, { name: NAME, plan: 'enterprise', limits: AGREED })),
  edit: (target, id) => runAction(target, 'edit', id, { name: 'edited', expires: LATER }),
  'move to Free': (target, id) => runAction(target, 'move', id, { plan: 'free' }),
  'move to Pro': (target, id) => runAction(target, 'move', id, { plan: 'pro' }),
  'move off Enterprise': (target, id) => runAction(target, 'move', id, { plan: 'pro' }),
  'move to Enterprise': (target, id) =>
    runAction(target, 'move', id, { plan: 'enterprise', perMinute: 800, perDay: 8_000 }),
  rotate: (target, id) => shown(rotateKey(target, id, { label: MAIN_LABEL, graceMs: HOUR_MS })),
  add: (target, id) => shown(addToken(target, id, { label: 'reports', access: 'read' })),
  end: (target, id, subject?: KeyRecord) => endToken(target, id, nameLabeled(subject, MAIN_LABEL)),
  suspend: (target, id) => runAction(target, 'suspend', id),
  'suspend for a while': (target, id) => runAction(target, 'suspend', id, { for: HOUR_MS }),
  resume: (target, id) => runAction(target, 'resume', id),
  revoke: (target, id) => runAction(target, 'revoke', id),
  sync: (target) => syncKeys(target),
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof commands;

/** How the key is at the start that the commands are about. */
export type Start = 'open' | 'suspended' | 'on Enterprise';

/** Issues the key that the commands are about, with two tokens. @param differences of its record @returns that */
export async function issueSubject(
  world: InProcessTarget,
  start: Start,
  differences: Partial<KeyRecord> = {},
): Promise<KeyRecord> {
  const isAgreed = start === 'on Enterprise';
  const text = generateToken();
  const now = Date.now();
  const closed = { enabled: false, suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true };
  const key = aKey({ keyId: 'subject', name: NAME, plan: isAgreed ? 'enterprise' : 'free', revision: 1 }, text);
  const subject = {
    ...key,
    ...(isAgreed ? AGREED : plans.free.limits),
    ...(start === 'suspended' && closed),
    tokens: {
      ...tokenEntry(text, {}, now),
      ...tokenEntry(generateToken(key.recordId), { label: 'app' }, now),
    },
    ...differences,
  };
  await world.issue(subject, isAgreed ? 'enterprise' : 'free', isAgreed ? limitTags : {});
  return subject;
}
