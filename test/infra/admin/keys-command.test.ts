import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { addToken } from '../../../infra/admin/keys/new-token.ts';
import { createKey } from '../../../infra/admin/keys/create-key.ts';
import type { NewToken } from '../../../infra/admin/keys/new-token.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { AdminCommand } from '../../support/admin-command.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { expectNoSecrets } from '../../support/secrets.ts';

const world = new InProcessTarget();
const { target } = world;
jest.unstable_mockModule('../../../infra/admin/target.ts', () => ({ findTarget: () => Promise.resolve(target) }));
const admin = new AdminCommand('');

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const UNTIL = Date.parse('2100-01-01');
let main: NewToken;
let reports: NewToken;
beforeAll(async () => {
  world.reset();
  main = await createKey(target, { name: 'Acme', plan: 'free', limits: plans.free.limits });
  await main.confirmShown();
  reports = await addToken(target, main.id, { label: 'reports', access: 'read', until: UNTIL });
});
afterAll(() => world.close());

/** Has what runs in this process read a text from standard input. */
async function withInput<Result>(text: string, work: () => Promise<Result>): Promise<Result> {
  const own = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
  Object.defineProperty(process, 'stdin', { value: Readable.from([text]), configurable: true });
  return work().finally(() => Object.defineProperty(process, 'stdin', own));
}

test('--json of keys list, show and find has the shape of each token, and never the token or what is stored of it', async () => {
  const shape = { since: TIME, until: null, access: 'full', neverShown: false };
  const tokens = [
    { ...shape, label: 'main', last: main.key.slice(-4) },
    {
      ...shape,
      label: 'reports',
      last: reports.key.slice(-4),
      access: 'read',
      until: '2100-01-01T00:00:00.000Z',
      neverShown: true,
    },
  ];
  const view = {
    id: main.id,
    name: 'Acme',
    plan: 'free',
    ...plans.free.limits,
    state: 'active',
    created: TIME,
    lastUsed: null,
    usedThisMinute: 0,
    usedToday: 0,
    expires: null,
    suspendedUntil: null,
    tokens,
  };

  expect(await admin.json('keys', 'list')).toEqual([view]);
  expect(await admin.json('keys', 'show', main.id)).toEqual(view);
  const found = await withInput(`${reports.key}\n`, () => admin.json('keys', 'find'));
  expect(found).toEqual({ key: view, token: tokens[1] });
  expectNoSecrets(admin.transcript, [main.key, reports.key]);
});

test('keys end says which token is refused, and shows the key with what it has left', async () => {
  const text = await admin.output('keys', 'end', main.id, '--label', 'reports');

  expect(text).toMatch(new RegExp(`^The token reports of Acme is refused from now on\\.\n\nId +${main.id}\n`));
  expect(text).toMatch(/\nmain\t.{4}\t[^\n]+\n$/);
  expect(text).not.toContain('\nreports\t');
});
