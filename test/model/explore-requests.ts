import { ConditionalCheckFailedException, ThrottlingException } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { documentClient, exactNumbers } from '../../shared/dynamodb.ts';
import { type KeyRecord, parseKeyRecord } from '../../shared/keys/key-record.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import { LEASE_MS } from '../../shared/keys/remembered-key.ts';
import { hashToken, type Token } from '../../shared/keys/token.ts';
import type { Verdict } from '../../shared/keys/verdict.ts';
import { endOfMinute, minuteOf } from '../../shared/keys/window.ts';
import { Random } from '../support/random.ts';
import { type Choose, explore, type Explored } from './explore.ts';
import { incidents, KEY, MINUTE_CHANGE, PLACE, RECORD_ID, RequestRules, START, TOKENS } from './request-rules.ts';
import { type Tamper, withPlainItems } from './virtual-dynamodb.ts';
import { type Input, VirtualTables } from './virtual-tables.ts';
import { VirtualTime } from './virtual-time.ts';
import { connectionReset, timedOut } from './weather.ts';

const TABLE = 'keys';
/** Longer than any pause after a throttled call. */
const WAKE_MS = 150;

type Fate = 'done' | 'lost request' | 'lost answer' | 'throttled' | 'late';
const FATES: readonly Fate[] = ['done', 'lost request', 'lost answer', 'throttled', 'late'];

interface Call {
  readonly request: number;
  readonly environment: number;
  readonly input: Input;
  readonly resolve: (output: never) => void;
  readonly reject: (error: unknown) => void;
}

export interface RequestsToExplore {
  readonly incident: string;
  /** The environment of each request. */
  readonly environments: readonly number[];
  /** Calls that go wrong, at most. */
  readonly faults: number;
  readonly tamper?: Tamper | undefined;
}

/** Goes through all schedules of three requests. @throws Error at the first that breaks a rule */
export function exploreRequests(settings: RequestsToExplore): Promise<Explored> {
  return explore((choose) => new RequestSchedule(settings, choose).run());
}

/** Numbers that do not depend on who asks first. */
class Half extends Random {
  override next(): number {
    return 0.5;
  }
}

/** One schedule: requests begin, their calls arrive or fail, an admin changes the key, each at its turn. */
class RequestSchedule {
  readonly #settings: RequestsToExplore;
  readonly #choose: Choose;
  readonly #time = new VirtualTime(START, new Half(0));
  readonly #tables = new VirtualTables();
  readonly #limiters: readonly Limiter[];
  /** What each environment has gone through. With the time it is all that decides what it does next. */
  readonly #histories: string[][] = [[], []];
  readonly #verdicts: (Verdict['kind'] | 'failed' | 'begun' | undefined)[] = TOKENS.map(() => undefined);
  #pending: Call[] = [];
  #late: Call[] = [];
  #faults = 0;
  /** When the incident was, and whether more than the second of an environment's memory has passed since. */
  #happenedAt = Infinity;
  #isOutlasted = false;
  /** What was done, to be told of a failure. */
  readonly #steps: string[] = [];
  readonly #rules: RequestRules;

  constructor(settings: RequestsToExplore, choose: Choose) {
    this.#settings = settings;
    this.#choose = choose;
    this.#rules = new RequestRules(settings.incident);
    this.#tables.createTable(TABLE, 'recordId');
    this.#put(KEY);
    this.#limiters = clients.map((client) => new Limiter(client, TABLE));
  }

  async run(): Promise<void> {
    this.#time.at(START, () => this.#step());
    // oxlint-disable-next-line typescript/no-this-alias
    running = this;
    await this.#time.run();
    if (this.#rules.broken !== undefined) throw new Error(`${this.#rules.broken}: ${this.#steps.join(', ')}`);
  }

  #step(): void {
    const options = this.#rules.broken === undefined ? this.#options() : [];
    const choice = options.length === 0 ? undefined : this.#choose(this.#state(), options.length);
    const option = choice === undefined ? undefined : options[choice];
    if (!option) return;
    const [name, act] = option;
    this.#steps.push(name);
    const wait = act() ?? 0;
    this.#time.at(this.#time.now + wait, () => this.#step());
  }

  #state(): unknown[] {
    const late = this.#late.map(({ input }) => input);
    const pending = this.#pending.map(({ request }) => request).toSorted((a, b) => a - b);
    const item = this.#tables.itemAt(TABLE, PLACE);
    return [item, this.#histories, pending, late, this.#rules.state, this.#faults, this.#happenedAt, this.#time.now];
  }

  /** What may happen next: each returns the milliseconds that pass. */
  #options(): [string, () => number | void][] {
    const { environments, faults, incident } = this.#settings;
    const begins = TOKENS.flatMap((token, request): [string, () => void][] => {
      const isBusy = environments.some((environment, other) => {
        return environment === environments[request] && this.#verdicts[other] === 'begun';
      });
      return this.#verdicts[request] || isBusy ? [] : [[`${token} begins`, () => this.#begin(request)]];
    });
    const fates = FATES.slice(0, this.#faults < faults ? FATES.length : 1);
    const calls = this.#pending.flatMap((call) =>
      fates.map((fate): [string, () => void] => [`${TOKENS[call.request]}: ${fate}`, () => this.#deliver(call, fate)]),
    );
    const late = this.#late.map((call): [string, () => void] => [
      `${TOKENS[call.request]} arrives late`,
      () => this.#arriveLate(call),
    ]);
    const happens: [string, () => number | void][] =
      this.#happenedAt === Infinity
        ? [[incident, () => this.#happen()]]
        : this.#isOutlasted
          ? []
          : [['a second passes', () => this.#outlast()]];
    const isAsleep = this.#verdicts.filter((verdict) => verdict === 'begun').length > this.#pending.length;
    const wakes: [string, () => number][] = isAsleep ? [['a pause ends', () => WAKE_MS]] : [];
    return [...calls, ...begins, ...late, ...happens, ...wakes];
  }

  #begin(request: number): void {
    const environment = this.#settings.environments[request] ?? 0;
    const text = TOKENS[request] ?? 'good';
    const isOutlasted = this.#isOutlasted;
    const note = (what: unknown): void => {
      this.#histories[environment]?.push(JSON.stringify([request, what, Date.now()]));
    };
    note('begins');
    this.#verdicts[request] = 'begun';
    const token = { recordId: RECORD_ID, hash: hashToken(text), usageIdentifier: RECORD_ID };
    void this.#admit(environment, token).then((outcome) => {
      note(outcome);
      this.#verdicts[request] = outcome.kind;
      if (outcome.kind !== 'failed') {
        this.#rules.checkVerdict(text, outcome, this.#happenedAt < Infinity, isOutlasted);
      } else if (this.#faults === 0) this.#rules.broken ??= `${text} failed with no fault: ${outcome.error}`;
      return undefined;
    });
  }

  async #admit(environment: number, token: Token): Promise<Verdict | { kind: 'failed'; error: string }> {
    try {
      return (await this.#limiters[environment]?.admit(token, Date.now())) ?? { kind: 'denied' };
    } catch (error) {
      return { kind: 'failed', error: String(error) };
    }
  }

  /** A call of an environment, which has one request at a time. */
  call(environment: number, input: Input): Promise<never> {
    const { promise, resolve, reject } = Promise.withResolvers<never>();
    const { environments, tamper } = this.#settings;
    const request = this.#verdicts.findIndex((verdict, index) => {
      return verdict === 'begun' && environments[index] === environment;
    });
    this.#pending.push({ request, environment, input: tamper?.('UpdateItemCommand', input) ?? input, resolve, reject });
    return promise;
  }

  #deliver(call: Call, fate: Fate): void {
    this.#pending = this.#pending.filter((other) => other !== call);
    if (fate !== 'done') this.#faults += 1;
    if (fate === 'late') this.#late.push(call);
    const answer = fate === 'done' || fate === 'lost answer' ? this.#execute(call) : undefined;
    this.#histories[call.environment]?.push(JSON.stringify([fate, String(answer?.error), answer?.output]));
    if (fate === 'throttled') call.reject(new ThrottlingException({ message: 'Too fast', $metadata: {} }));
    else if (fate === 'late') call.reject(timedOut());
    else if (fate !== 'done') call.reject(connectionReset());
    else if (answer?.output) call.resolve(withPlainItems(answer.output));
    else call.reject(answer?.error);
  }

  #arriveLate(call: Call): void {
    this.#late = this.#late.filter((other) => other !== call);
    this.#execute(call);
  }

  /** Carries a write out, and looks at what it does to the key. */
  #execute({ request, input }: Call): { readonly output?: Input; readonly error?: unknown } {
    const before = this.#key();
    try {
      const output = this.#tables.execute('UpdateItemCommand', input, { at: this.#time.now, writer: 'request' });
      this.#rules.checkWrite(TOKENS[request] ?? '', before, this.#key());
      return { output };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return { error };
    }
  }

  #happen(): number {
    const key = this.#key();
    const change = incidents[this.#settings.incident]?.(key, Date.now()) ?? {};
    this.#happenedAt = this.#time.now;
    this.#put({ ...key, ...change });
    return this.#settings.incident === MINUTE_CHANGE ? endOfMinute(minuteOf(this.#time.now)) - this.#time.now : 0;
  }

  #outlast(): number {
    this.#isOutlasted = true;
    return LEASE_MS + 1;
  }

  #key(): KeyRecord {
    const item = this.#tables.itemAt(TABLE, PLACE) ?? {};
    return parseKeyRecord(unmarshall(item, { ...exactNumbers }));
  }

  #put(key: object): void {
    this.#tables.put(TABLE, marshall(key, { removeUndefinedValues: true }), this.#time.now);
  }
}

/** The schedule that is running: there is one at a time. */
let running: RequestSchedule | undefined;

function callOf(environment: number, input: Input): Promise<never> {
  if (!running) throw new Error('No schedule is running');
  return running.call(environment, input);
}

/** A client for each environment, made once: that takes longer than a schedule. */
const clients = [0, 1].map((environment) => {
  const client = documentClient({ requestTimeout: 1_000 });
  client.middlewareStack.addRelativeTo(
    () =>
      async ({ input }: { readonly input: object }) => ({
        output: await callOf(environment, { ...input }),
        response: undefined,
      }),
    { relation: 'after', toMiddleware: 'DocumentMarshall' },
  );
  return client;
});
