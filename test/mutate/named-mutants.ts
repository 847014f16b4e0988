import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { partNames } from '../bench/figure.ts';

export const root = join(import.meta.dirname, '../..');

/** A file of the project with a fault. */
export interface Mutant {
  readonly file: string;
  readonly original: string;
  readonly changed: string;
}

/** What must notice a fault: a script that fails with such an output, or a figure of the bench that doubles. */
export interface Detector {
  readonly script: readonly string[];
  readonly shows: RegExp;
  readonly isFigure?: true;
}

const limiter: Detector = {
  script: ['test/soak/main.ts', 'limiter', '--seeds', '600'],
  shows: /^The model of limiter fails with seed \d+:\n(.*)/m,
};

/** The model of keys, for a pair of actors that shows the fault. */
const keys = (pair: string): Detector => ({
  script: ['test/soak/main.ts', 'keys', pair],
  shows: /^The model of keys fails: (.*)/m,
});

const bench = (part: (typeof partNames)[number], figure: string): Detector => ({
  script: ['test/bench/main.ts', '--small', part],
  shows: new RegExp(`${figure} +\\| ([\\d.]+)`),
  isFigure: true,
});

const smokeTest: Detector = {
  script: ['test/run-all.ts', '--suites-only', 'test/smoke/'],
  shows: /passes a correct service[^]*?✗ (.*)/,
};

type Edit = readonly [from: string, to: string, detector: Detector];

/** Makes a part of conditions true, whatever the item. It stays as well: DynamoDB refuses a value that is not used. */
const without = (part: string, rest = ''): Edit => [
  part + rest,
  `(${part} OR attribute_not_exists(nothing))${rest}`,
  limiter,
];

/** Puts a wait before a statement. */
const slow = (statement: string, milliseconds: number, detector: Detector): Edit => [
  statement,
  `await new Promise((resolve) => setTimeout(resolve, ${milliseconds})); ${statement}`,
  detector,
];

/** Calls once more after some failures. */
const again = (call: string, failure: string): string =>
  `${call}.catch(async (error) => { if (${failure}(error)) await ${call}; throw error; })`;

const DECIDE = 'this.#decide(token, key, options)';
const SEND = 'this.#client.send(command)';
const RECORD = 'const record = await readRecord(target, found.recordId);';
const LIVE = 'const live = await readLive(target, record);';

/** By file and fault: a text, wherever it is in the file, and what replaces it. */
const edits: Readonly<Record<string, Readonly<Record<string, Edit>>>> = {
  'shared/keys/counter-store.ts': {
    'a disabled key is admitted': without('enabled = :true'),
    'a revoked key is admitted': without('revoked = :false'),
    'a suspended key is admitted': without('suspendedUntil <= :now'),
    'an expired key is admitted': without('expiresAtMs > :now'),
    'any token is admitted': without('tokens.#token.#until > :now'),
    'a request is counted in another minute': without('currentMinute = :minute', ' AND'),
    'a minute is begun twice': without('currentMinute < :minute'),
    'a day is begun twice': without('currentMinute < :day'),
    'the limit per minute is ignored': without('minuteUsed < perMinute'),
    'the limit per day is ignored': without('dayUsed < perDay'),
    'a request is refused with remaining quota': without('(minuteUsed >= perMinute OR dayUsed >= perDay)'),
    'a key with few refusals is suspended': without('minuteRefused >= perMinute'),
    'a request is counted twice': ["':one': 1", "':one': 2", limiter],
    'a refusal counts twice': ['refused.ofMinute', '2 * refused.ofMinute', limiter],
    'a refusal is not counted': ['refused.ofMinute', '0 * refused.ofMinute', limiter],
    'a throttled write counts once more': [SEND, again(SEND, 'isThrottled'), limiter],
  },
  'shared/keys/limiter.ts': {
    'a lost response counts its request twice more': [DECIDE, again(DECIDE, 'isConnectionGone'), limiter],
    'refusals are not cached': [
      'REFUSAL_CACHE_TTL_MS = 1_000',
      'REFUSAL_CACHE_TTL_MS = 0',
      bench('attacks', 'one unknown key: additional writes per second per environment'),
    ],
  },
  'infra/admin/keys/key-actions.ts': {
    'resume ignores the revision that it read': ['if (isRead)', 'if (false)', keys('resume with suspend')],
  },
  'infra/admin/keys/change-key.ts': {
    'a command clears the pending sync of another': ['wasApplied)', 'true)', keys('move to Pro with move to Free')],
    'a command reads API Gateway before the record': [
      `${RECORD}\n    ${LIVE}`,
      `${RECORD.replace('const', 'let')} ${LIVE} ${RECORD.replace('const ', '')}`,
      keys('resume with move to Pro'),
    ],
    'a key that an admin deleted is created anew': ['if (isMissing)', 'if (false)', keys('edit with console: delete')],
  },
  'shared/key-registry/reconcile.ts': {
    'a pending sync is cleared after a minute': ['3 * 60_000', '60_000', keys('move to Pro with move to Free')],
    'a key that is missing in API Gateway is revoked': [
      'isDeleted && record.enabled ? { enabled: false }',
      'isDeleted && record.enabled ? { enabled: false, revoked: true }',
      keys('move to Pro with console: delete'),
    ],
    'a resumed key is not created anew': ['record.enabled ? [', "record.keyId === '' ? [", keys('resume with sync')],
  },
  'shared/key-registry/key-sync.ts': {
    'a sync trusts the list of keys': ['await readLive(', 'listed ?? await readLive(', keys('move to Pro with rotate')],
    'a sync stores no timestamp of its own': [
      'await keyTable.revise(record, stamp)',
      '{ ...record, ...stamp }',
      keys('sync with move to Free'),
    ],
    'a sync unblocks a key silently': ['if (problem) {', 'if (false) {', keys('move to Pro with move to Free')],
    'a sync blocks all keys in a fault': [
      'mayBlock.map(servedInFault)',
      'mayBlock',
      keys('edit with console: delete all'),
    ],
  },
  'shared/key-registry/live-key.ts': {
    'the wrong list confirms a plan': ['(isOn)', "(isOn || 'keyId' in query)", keys('move to Pro with rotate')],
  },
  'shared/key-registry/key-history.ts': {
    'history does not name the previous change': ['at, previousAt, what', 'at, what', keys('move to Pro with rotate')],
  },
  'shared/http/change-handler.ts': {
    'updates are slow': slow('const petId', 700, bench('costs', 'update: time of its functions')),
    'cold updates are slow': slow(
      'const petId',
      2_000,
      bench('cold', 'update-inventory: cold response time ÷ a bare client'),
    ),
  },
  'shared/http/list-handler.ts': {
    'lists are slow': slow('const query =', 700, bench('listing', 'list of 1,000 pets: time ÷ bare Query loop')),
  },
  'shared/http/json-body.ts': {
    'a body is parsed again and again': [
      'return JSON.parse(text)',
      'for (let time = 0; time < 1_000; time++) JSON.parse(text); return JSON.parse(text)',
      bench('parsers', 'update with 8,000 numbers: CPU time ÷ that of the longest valid request'),
    ],
  },
  'infra/local/start.ts': {
    'npm start is slow': slow(
      'const options',
      10_000,
      bench('host', 'npm start, after the first: seconds until ready'),
    ),
  },
  'infra/local/gateway/rest-api.ts': {
    'responses have no request id': ["'x-amzn-RequestId'", "'x-amzn-Request'", smokeTest],
  },
  'shared/http/response-headers.ts': {
    'responses lack a limit header': ["'RateLimit-Policy': ", "'RateLimit-Rules': ", smokeTest],
  },
  'functions/fallback.ts': {
    'an unknown path has another error code': ["'ROUTE_NOT_FOUND'", "'PET_NOT_FOUND'", smokeTest],
    'an unknown method is served': [
      "throw new ServiceError('METHOD_NOT_ALLOWED', { message, headers: allowedMethods(resource) })",
      "return { status: 200, body: '[]' }",
      smokeTest,
    ],
  },
};

export interface NamedMutant extends Mutant {
  readonly fault: string;
  readonly detector: Detector;
}

/** @throws Error if a file does not have the text */
export const namedMutants = (): NamedMutant[] =>
  Object.entries(edits).flatMap(([file, faults]) => {
    const original = readFileSync(join(root, file), 'utf8');
    return Object.entries(faults).map(([fault, [from, to, detector]]) => {
      if (!original.includes(from)) throw new Error(`${file} does not have the text ${from}`);
      return { file, original, changed: original.replaceAll(from, () => to), fault, detector };
    });
  });
