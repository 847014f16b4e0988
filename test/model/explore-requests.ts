import { AsyncLocalStorage } from 'node:async_hooks';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { exactNumbers } from '../../shared/dynamodb.ts';
import type { KeyChange } from '../../shared/key-registry/key-table.ts';
import { tokenEntry, withEnd, withToken } from '../../shared/key-registry/key-tokens.ts';
import { type KeyRecord, parseKeyRecord } from '../../shared/keys/key-record.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import { LEASE_MS } from '../../shared/keys/remembered-key.ts';
import { hashToken } from '../../shared/keys/token.ts';
import { endOfMinute, minuteOf } from '../../shared/keys/window.ts';
import { NEVER } from '../../shared/keys/working-token.ts';
import { Random } from '../support/random.ts';
import { aKey } from '../support/tables.ts';
import { unanswered } from './environments.ts';
import { explore, type Explored, type Schedule, type Step } from './explore.ts';
import { violationsOfLimiter } from './limiter-check.ts';
import { type LimiterRequest, MAX_AHEAD_MS } from './limiter-schedule.ts';
import { connectionReset, throttled, timedOut } from './virtual-dynamodb.ts';
import { clientOver, type Input, type Item, type Tamper, VirtualTables } from './virtual-tables.ts';
import { VirtualTime } from './virtual-time.ts';

const TABLE = 'keys';
const RECORD_ID = 'petstoreinventory0123456789abcdef';
/** Half a second before a minute ends. */
const START = Date.UTC(2026, 10, 21, 12, 0, 59, 500);
/** The token of each request. */
const TOKENS = ['good', 'ended', 'read'] as const;
/** Longer than any pause after a throttled call. */
const PAUSE_MS = 150;
/** After this time no environment may answer from what it remembers. */
const FORGOTTEN_MS = LEASE_MS + MAX_AHEAD_MS + 1;

const tokenOf = (text: string) => ({ recordId: RECORD_ID, hash: hashToken(text), usageIdentifier: RECORD_ID });

const KEY = aKey({
  recordId: RECORD_ID,
  perMinute: 2,
  minuteUsed: 1,
  dayUsed: 1,
  currentMinute: minuteOf(START),
  tokens: {
    ...tokenEntry('good', {}, 0),
    ...tokenEntry('ended', { label: 'ended', until: START - 1 }, 0),
    ...tokenEntry('read', { label: 'read', access: 'read' }, 0),
  },
});

/** The request that the key has counted at the start. */
const EARLIER: LimiterRequest = {
  ...unanswered(0, START),
  token: tokenOf('good'),
  writer: 'earlier',
  epoch: START,
  answeredAt: START,
  outcome: { kind: 'admitted', key: KEY },
};

const withoutGood = (tokens: KeyRecord['tokens'], now: number) => withEnd(tokens, [hashToken('good')], now);

const MINUTE_CHANGE = 'minute change';

/** What happens once, at any moment; the first is no change of the key. */
export const incidents: Readonly<Record<string, (key: KeyRecord, now: number) => KeyChange>> = {
  [MINUTE_CHANGE]: () => ({}),
  revoke: () => ({ revoked: true, enabled: false }),
  suspend: () => ({ enabled: false, suspendedUntil: NEVER, suspendedByAdmin: true }),
  'limit change': () => ({ perMinute: 1 }),
  rotate: (key, now) => ({ tokens: withoutGood(withToken(key, tokenEntry('new', {}, now), now), now) }),
  add: (key, now) => ({ tokens: withToken(key, tokenEntry('new', { label: 'new' }, now), now) }),
  end: (key, now) => ({ tokens: withoutGood(key.tokens, now) }),
};

const FATES = ['done', 'lost request', 'lost answer', 'throttled', 'late'] as const;
type Fate = (typeof FATES)[number];

interface Call {
  readonly request: LimiterRequest;
  readonly name: string;
  readonly input: Input;
  readonly resolve: (output: Input) => void;
  readonly reject: (error: unknown) => void;
}

export interface RequestsToExplore {
  readonly incident: string;
  /** The environment of each request. */
  readonly environments: readonly number[];
  /** Calls that fail, at most. The client sends its first request again where its answer is 503. */
  readonly faults: number;
  readonly tamper?: Tamper | undefined;
}

/** Goes through all schedules of three requests. @throws Error at the first that breaks a rule */
export function exploreRequests(settings: RequestsToExplore): Promise<Explored> {
  return explore(() => Promise.resolve(new RequestSchedule(settings)));
}

/** Numbers that do not depend on which environment asks first. */
class Half extends Random {
  override next(): number {
    return 0.5;
  }
}

/** Requests begin, their calls arrive or fail, an admin changes the key: one step at a time. */
class RequestSchedule implements Schedule {
  readonly #settings: RequestsToExplore;
  readonly #time = new VirtualTime(START, new Half(0));
  readonly #tables = new VirtualTables();
  readonly #limiters = [0, 1].map(() => new Limiter(client, TABLE));
  readonly #requests: LimiterRequest[] = [EARLIER];
  /** The events of each environment. With the time they decide what it does next. */
  readonly #journals: string[][] = [[], []];
  #pending: Call[] = [];
  #late: Call[] = [];
  #faults = 0;
  #happenedAt: number | undefined;
  #isForgotten = false;

  constructor(settings: RequestsToExplore) {
    this.#settings = settings;
    this.#tables.createTable(TABLE, 'recordId');
    this.#put(KEY);
  }

  state(): unknown {
    const late = this.#late.map(({ input }) => input);
    const pending = this.#pending.map(({ name }) => name).toSorted();
    return [this.#item(), this.#journals, pending, late, this.#faults, this.#happenedAt, this.#time.now];
  }

  steps(): Step[] {
    const { faults, incident } = this.#settings;
    const fates = FATES.slice(0, this.#faults < faults ? FATES.length : 1);
    const calls = this.#pending.flatMap((call) =>
      fates.map((fate) => this.#step(`${call.name}: ${fate}`, () => this.#deliver(call, fate))),
    );
    const begins = TOKENS.flatMap((text, index) =>
      this.#maySend(text, index) ? this.#step(`${text} begins`, () => this.#begin(text, index)) : [],
    );
    const late = this.#late.map((call) => this.#step(`${call.name} arrives late`, () => this.#arriveLate(call)));
    const passes = this.#isForgotten ? [] : this.#step('a second passes', () => this.#forget());
    const happens = this.#happenedAt === undefined ? this.#step(incident, () => this.#happen()) : passes;
    const open = this.#requests.filter(isOpen).length;
    const wakes = open > this.#pending.length ? this.#step('a pause ends', () => PAUSE_MS) : [];
    return [...calls, ...begins, ...late, happens, wakes].flat();
  }

  violations(): Promise<string[]> {
    return Promise.resolve(violationsOfLimiter({ requests: this.#requests, commits: this.#tables.commits }));
  }

  /** @param act returns the milliseconds that pass */
  #step(name: string, act: () => number | void): Step {
    return {
      name,
      act: () => {
        const wait = act() ?? 0;
        return this.#time.run(this.#time.now + wait);
      },
    };
  }

  /** Each request is sent once, the first again after a fault. An environment has one request at a time. */
  #maySend(text: string, index: number): boolean {
    const environment = this.#settings.environments[index];
    if (this.#requests.some((request) => isOpen(request) && request.environment === environment)) return false;
    const sent = this.#requests.filter(({ writer }) => writer.startsWith(text));
    return sent.length === 0 || (index === 0 && sent.length === 1 && sent[0]?.outcome.kind === 'failed');
  }

  #begin(text: string, index: number): void {
    const environment = this.#settings.environments[index] ?? 0;
    const { now } = this.#time;
    const token = tokenOf(text);
    const writer = this.#requests.some((request) => request.writer === text) ? `${text} again` : text;
    const request = { ...unanswered(environment, now), token, writer, epoch: now };
    this.#requests.push(request);
    this.#note(request, 'begins');
    void this.#admit(request);
  }

  async #admit(request: LimiterRequest): Promise<void> {
    const limiter = this.#limiters[request.environment];
    if (!limiter) throw new Error('There is no such environment');
    const admit = () => limiter.admit(request.token, request.epoch);
    const outcome = await calls.run((input) => this.#call(request, input), admit).catch(failed);
    Object.assign(request, { outcome, answeredAt: this.#time.now });
    this.#note(request, outcome);
  }

  #call(request: LimiterRequest, sent: Input): Promise<Input> {
    const { promise, resolve, reject } = Promise.withResolvers<Input>();
    const input = this.#settings.tamper?.('UpdateItemCommand', sent) ?? sent;
    this.#pending.push({ request, name: request.writer, input, resolve, reject });
    return promise;
  }

  #deliver(call: Call, fate: Fate): void {
    const { request, resolve, reject } = call;
    this.#pending = this.#pending.filter((other) => other !== call);
    if (fate !== 'done') {
      this.#faults += 1;
      request.faults += 1;
    }
    const answer = fate === 'done' || fate === 'lost answer' ? this.#execute(call) : {};
    this.#note(request, [fate, String(answer.error), answer.output]);
    if (fate === 'late') this.#late.push(call);
    if (fate === 'throttled') reject(throttled());
    else if (fate === 'late') reject(timedOut());
    else if (fate !== 'done') reject(connectionReset());
    else if (answer.output) resolve(answer.output);
    else reject(answer.error);
  }

  #arriveLate(call: Call): void {
    this.#late = this.#late.filter((other) => other !== call);
    this.#note(call.request, ['arrived late', this.#execute(call).output]);
  }

  #execute({ request, input }: Call): { readonly output?: Input; readonly error?: unknown } {
    const { writer } = request;
    try {
      return { output: this.#tables.execute('UpdateItemCommand', input, { at: this.#time.now, writer }) };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return { error };
    }
  }

  #happen(): number {
    const { incident } = this.#settings;
    const { now } = this.#time;
    const key = parseKeyRecord(unmarshall(this.#item(), { ...exactNumbers }));
    this.#put({ ...key, ...incidents[incident]?.(key, now) });
    this.#happenedAt = now;
    return incident === MINUTE_CHANGE ? endOfMinute(minuteOf(now)) - now : 0;
  }

  #forget(): number {
    this.#isForgotten = true;
    return FORGOTTEN_MS;
  }

  #item(): Item {
    return this.#tables.itemAt(TABLE, { recordId: { S: RECORD_ID } }) ?? {};
  }

  #put(key: object): void {
    this.#tables.put(TABLE, marshall(key, { removeUndefinedValues: true }), this.#time.now);
  }

  #note({ environment, writer }: LimiterRequest, event: unknown): void {
    this.#journals[environment]?.push(JSON.stringify([writer, event, this.#time.now]));
  }
}

const isOpen = ({ answeredAt }: LimiterRequest): boolean => answeredAt === Infinity;

const failed = (error: unknown): LimiterRequest['outcome'] => ({ kind: 'failed', error: String(error) });

/** What makes the calls of the request at hand. */
const calls = new AsyncLocalStorage<(input: Input) => Promise<Input>>();

/** Made once: that takes longer than a schedule. */
const client = clientOver((_, input) => {
  const call = calls.getStore();
  if (!call) throw new Error('A call belongs to no request');
  return call(input);
});
