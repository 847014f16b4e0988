import { afterAll, beforeEach } from '@jest/globals';
import type { Hono } from 'hono';
import { createConsole } from '../../../infra/admin/console/console-app.ts';
import type { Target } from '../../../infra/admin/service/target.ts';
import { syncKeys } from '../../../shared/key-registry/key-sync.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { HostClock } from '../../support/clocks.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { aKey } from '../../support/tables.ts';

export const NOW = Date.parse('2026-11-21T12:30:37Z');
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** A service in memory, without keys when a test begins, and an admin's messages. Call it where hooks may stand. */
export class AdminService {
  readonly world = new InProcessTarget();
  readonly target: Target;
  /** Stands still at {@link NOW} when a test begins. */
  readonly clock = new HostClock();
  messages: string[] = [];

  constructor() {
    const { target } = this.world;
    this.target = {
      ...target,
      report: (message) => void this.messages.push(message),
    };
    beforeEach(() => {
      this.clock.moveTo(NOW);
      this.messages = [];
      this.world.reset();
    });
    afterAll(() => {
      this.clock.release();
      this.world.close();
    });
  }

  /** Changes a key as in the AWS console. */
  editInConsole(differences: object): void {
    const apiKey = this.world.records.apiKey('subject');
    if (apiKey) this.world.records.putApiKey({ ...apiKey, ...differences });
  }

  /** Syncs once pending changes may be applied, and once they may be cleared. */
  async syncLater(): Promise<void> {
    for (const minutes of [1, 3]) {
      this.clock.moveTo(this.clock.now + minutes * MINUTE_MS);
      await syncKeys(this.target);
    }
  }

  /** The one key, or the first. */
  async record(): Promise<KeyRecord> {
    const [record] = await this.world.keys();
    return record ?? aKey({ name: 'none' });
  }

  /** Puts a key into the service, with its id as its name. */
  issue(keyId: string, differences: Partial<KeyRecord> = {}): Promise<void> {
    const record = aKey({ keyId, name: keyId, revision: 1, ...differences });
    return this.world.issue(record, record.plan);
  }
}

export const ORIGIN = 'http://127.0.0.1:4000';
export const BASE = '/the-base';
export const LINK = `${BASE}/?token=the-token`;

/** An admin's browser, as far as the console can tell. */
export class Visitor {
  readonly #app: Hono;
  readonly #headers: Record<string, string> = { Host: '127.0.0.1:4000', 'Sec-Fetch-Site': 'same-origin' };

  constructor(target: Target) {
    this.#app = createConsole(target, ORIGIN, { base: BASE, token: 'the-token' });
  }

  async signIn(): Promise<this> {
    const response = await this.request(LINK, { 'Sec-Fetch-Site': 'none' });
    this.#headers['Cookie'] = response.headers.get('Set-Cookie')?.split(';')[0] ?? '';
    return this;
  }

  request(address: string, headers: Readonly<Record<string, string>> = {}, init: RequestInit = {}): Promise<Response> {
    const all = Object.entries({ ...this.#headers, ...headers }).filter(([, value]) => value !== '');
    return Promise.resolve(this.#app.request(ORIGIN + address, { ...init, headers: Object.fromEntries(all) }));
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return this.request(BASE + path, headers);
  }

  async page(path: string): Promise<string> {
    return (await this.get(path)).text();
  }

  /** @param fields of a form, or its body */
  post(path: string, fields: Readonly<Record<string, string>> | ReadableStream, headers: Record<string, string> = {}) {
    const body = fields instanceof ReadableStream ? fields : new URLSearchParams(fields).toString();
    const length = typeof body === 'string' ? body.length : 1;
    const type = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': String(length) };
    const init = { method: 'POST', body, duplex: 'half' } as const;
    return this.request(BASE + path, { Origin: ORIGIN, ...type, ...headers }, init);
  }

  /** The page that the response to a form redirects to. */
  async follow(response: Promise<Response>): Promise<string> {
    return (await this.request((await response).headers.get('Location') ?? '')).text();
  }

  create(name: string): Promise<Response> {
    return this.post('/keys/new', { name, plan: 'free' });
  }
}

/** An {@link AdminService} with a visitor of its console, who has a session when a test begins. */
export class ConsoleService extends AdminService {
  visitor = new Visitor(this.target);

  constructor() {
    super();
    beforeEach(async () => {
      this.visitor = await new Visitor(this.target).signIn();
    });
  }
}
