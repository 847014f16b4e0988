import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { demoKey } from '../infra/demo-keys.ts';
import { guide } from '../infra/reference/guide.ts';
import { settingsOf } from '../infra/stages.ts';
import { run } from './support/admin-command.ts';
import { close, listen } from './support/listening.ts';
import { LocalHost } from './support/local-host.ts';
import { anEntry } from './support/tables.ts';
import { describeWith } from './support/programs.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

const readme = readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8');
const readmeFor = (serverUrl: string): string => readme.replaceAll('http://localhost:3000/v1', serverUrl);

/** The guide as the reference page of a server shows it. */
const guideFor = (serverUrl: string): string =>
  guide({ serverUrl, exampleKey: demoKey('free'), petDeprecation: settingsOf('staging').petDeprecation });

/** The code blocks of a page. */
const blocksOf = (page: string) =>
  [...page.matchAll(/```(\w+)\n(.*?)```/gs)].map(([, language = '', code = '']) => ({ language, code }));

/** Whether it is a program for `rows.json`, which is tested below. */
const isSync = ({ code }: { readonly code: string }): boolean => code.includes('rows.json');

/** The commands of a page that use curl, each with the response that the page shows below it, if any. */
const commandsOf = (page: string) =>
  blocksOf(page).flatMap((block, index, { [index + 1]: next }) => {
    if (block.language !== 'sh' || !/^curl |\(curl /m.test(block.code) || isSync(block)) return [];
    return { command: block.code, shown: next && !['sh', 'python'].includes(next.language) ? next : undefined };
  });

/** JSON of which each ETag is one and the same. */
const parse = (json: string): unknown =>
  JSON.parse(json, (_, value: unknown) => (/^"[\w-]{12}"$/.test(String(value)) ? 'an ETag' : value));

/** The lines of a response, with headers in lower case, of which those that differ each time have no value. */
const linesOf = (response: string): string[] =>
  response
    .split(/[\r\n]+/)
    .filter(Boolean)
    .map((line) =>
      line.replace(/^[\w-]+: /, (name) => name.toLowerCase()).replace(/^(etag|x-ratelimit-reset): .+/, '$1'),
    );

/** What a page shows of a response, and what there is in its place. */
function comparable(shown: string, language: string, response: string): readonly [unknown, unknown] {
  if (language !== 'json') return [linesOf(shown), linesOf(response).filter((line) => linesOf(shown).includes(line))];
  const [expected, received] = [parse(shown), parse(response)];
  // Of a list the page shows the beginning.
  return [expected, Array.isArray(expected) && Array.isArray(received) ? received.slice(0, expected.length) : received];
}

type Rows = readonly { readonly petId: number; readonly quantity: number }[];

/** What becomes of a request of a sync. `forward` sends rows to the service, and returns the JSON of their results. */
type Fault = (rows: Rows, response: ServerResponse, forward: (rows: Rows) => Promise<string>) => Promise<unknown>;

const respondingWith =
  (rateLimit: string): Fault =>
  async (rows, response, forward) =>
    response.setHeader('RateLimit', rateLimit).end(await forward(rows));

/** Faults that a sync survives. */
const faults = {
  loseResponse: async (rows, response, forward) => {
    await forward(rows);
    response.destroy();
  },
  truncateResponse: async (rows, response, forward) => {
    const results = await forward(rows);
    const sent = response.writeHead(200, { 'Content-Length': results.length });
    sent.write(results.slice(0, 100), () => response.destroy());
  },
  reachLimit: respondingWith('"minute";r=0;t=2, "day";r=940;t=52350'),
  refuse: async (_, response) => {
    response.writeHead(429, { 'Retry-After': 1 }).end('{"code":"RATE_LIMIT_EXCEEDED","message":"…","status":429}');
  },
  leaveOneRow: async ([first, ...rows], response, forward) => {
    const results = JSON.parse(await forward(rows));
    response.end(
      JSON.stringify([{ petId: first?.petId, status: 503, error: { code: 'SERVICE_UNAVAILABLE' } }, ...results]),
    );
  },
} satisfies Record<string, Fault>;

/** Ends a sync: the limit that is left resets in hours. */
const exhaustDay = respondingWith('"minute";r=12;t=30, "day";r=0;t=52350');

/** Ends a sync: no retry would succeed. */
const deny: Fault = async (_, response) =>
  response.writeHead(401).end('{"code":"API_KEY_INVALID","message":"…","status":401}');

describeWith(['curl', 'jq', 'python3'], 'the examples of README and guide', () => {
  const directory = temporaryDirectory();
  let host: LocalHost;
  beforeAll(async () => {
    host = await LocalHost.start();
  });
  afterAll(() => host?.close());

  test.each([
    ['README.md', readmeFor, 1],
    ['docs/guide.md', guideFor, 7],
  ])('of %s succeed in order, with the responses that the page shows', async (_, pageFor, count) => {
    const examples = commandsOf(pageFor(host.baseUrl));
    // As on a new server, after the examples of another page.
    await host.stock.put(anEntry(101, 4));
    const outcomes: unknown[] = [];
    const expected: unknown[] = [];
    for (const { command, shown } of examples) {
      const script = `curl() { command curl --fail-with-body --silent --show-error "$@"; }\n${command}`;
      const { stdout, ...ended } = await run('sh', ['-ec', script]);
      const [shownResponse, response] = shown ? comparable(shown.code, shown.language, stdout) : [];
      expected.push({ command, exitCode: 0, stderr: '', response: shownResponse });
      outcomes.push({ command, ...ended, response });
    }

    expect(outcomes).toEqual(expected);
    expect(examples).toHaveLength(count);
  });

  /** Runs the program of the guide with rows for these pets, whose quantity is 1, and for one that does not exist. */
  async function sync(language: string, petIds: readonly number[], first: readonly Fault[]) {
    const requests: { readonly key: unknown; readonly receivedAt: number }[] = [];
    /** Passes a request on to the service, the first ones with a fault each. */
    async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { authorization = '', 'idempotency-key': key = '' } = request.headers;
      const fault = first[requests.length];
      requests.push({ key, receivedAt: performance.now() });
      const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': String(key) };
      const forward = async (rows: Rows): Promise<string> => {
        const body = JSON.stringify(rows);
        const forwarded = await fetch(`${host.baseUrl}/inventory`, { method: 'PATCH', headers, body });
        response.statusCode = forwarded.status;
        return forwarded.text();
      };
      const rows: Rows = JSON.parse(await text(request));
      await (fault ? fault(rows, response, forward) : response.end(await forward(rows)));
    }
    const proxy = createServer((request, response) => void respond(request, response));
    const page = guideFor(`http://127.0.0.1:${await listen(proxy)}/v1`);
    const program = blocksOf(page).find((block) => block.language === language && isSync(block));
    const rows = [...petIds, 999].map((petId) => ({ petId, quantity: 7, ifQuantity: 1 }));
    await host.stock.putAll(petIds.map((petId) => anEntry(petId)));
    writeFileSync(path.join(directory, 'sync'), program?.code ?? '');
    writeFileSync(path.join(directory, 'rows.json'), JSON.stringify(rows));
    const key = randomUUID();
    const shell = language === 'python' ? 'python3' : 'sh';
    const { exitCode, stdout, stderr } = await run('sh', ['-ec', `cd '${directory}'; ${shell} sync ${key}`]);
    await close(proxy);
    const results = stdout.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)));
    return { exitCode, stderr, results: results.toSorted((a, b) => a.petId - b.petId), requests, key };
  }

  describe.each(['python', 'sh'])('of a sync in %s', (language) => {
    test('sets each quantity and waits as required, even if responses are lost', async () => {
      const petIds = Array.from({ length: 60 }, (_, index) => 5_000 + index);
      const { exitCode, stderr, results, requests, key } = await sync(language, petIds, Object.values(faults));
      const pauseAfter = (name: keyof typeof faults): number => {
        const index = Object.keys(faults).indexOf(name);
        return Number(requests[index + 1]?.receivedAt) - Number(requests[index]?.receivedAt);
      };

      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
      expect(results).toMatchObject([
        { petId: 999, status: 404 },
        ...petIds.map((petId) => ({ petId, status: 200, item: { petId, quantity: 7 } })),
      ]);
      expect(await Promise.all(petIds.map((petId) => host.stock.read(String(petId))))).toEqual(
        petIds.map(() => expect.objectContaining({ quantity: 7 })),
      );
      expect(new Set(requests.map((request) => request.key))).toEqual(new Set([key]));
      expect(pauseAfter('reachLimit')).toBeGreaterThanOrEqual(2_000);
      expect(pauseAfter('refuse')).toBeGreaterThanOrEqual(1_000);
    });

    test.each([
      ['the daily quota is exhausted', exhaustDay, 25, '52350 seconds'],
      ['a retry would fail', deny, 0, 'API_KEY_INVALID'],
    ])('stops and reports the cause if %s', async (_, fault, done, message) => {
      const petIds = Array.from({ length: 30 }, (__, index) => 6_000 + index);
      const { exitCode, stderr, results, requests } = await sync(language, petIds, [fault]);

      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(message) });
      expect([results.length, requests.length]).toEqual([done, 1]);
    });
  });
});
