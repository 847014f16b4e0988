import type { Hono } from 'hono';
import { createConsole } from '../../../infra/admin/console/console-app.ts';
import type { Target } from '../../../infra/admin/service/target.ts';

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

  async letIn(): Promise<this> {
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

  post(path: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
    const form = new URLSearchParams(fields).toString();
    const type = 'application/x-www-form-urlencoded';
    const always = { Origin: ORIGIN, 'Content-Type': type, 'Content-Length': String(form.length) };
    return this.request(BASE + path, { ...always, ...headers }, { method: 'POST', body: form });
  }

  /** The page that the response to a form redirects to. */
  async follow(response: Promise<Response>): Promise<string> {
    return (await this.request((await response).headers.get('Location') ?? '')).text();
  }

  create(name: string): Promise<Response> {
    return this.post('/keys/new', { name, plan: 'free' });
  }
}
