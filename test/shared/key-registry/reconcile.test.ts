import { describe, expect, test } from '@jest/globals';
import { type GatewayFields, revocation } from '../../../shared/key-registry/record-changes.ts';
import type { LiveKey } from '../../../shared/key-registry/live-key.ts';
import { openingProblem, reconcile, differingFields } from '../../../shared/key-registry/reconcile.ts';
import { type KeyRecord, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { aKey } from '../../support/tables.ts';

const NOW = Date.UTC(2026, 10, 23, 9);
const SECOND = 1_000;
const INTERIM = { interimUntil: NOW + 300 * SECOND };

const FIELDS: GatewayFields = { keyId: 'k1', name: 'acme', plan: 'free', ...plans.free.limits, enabled: true };
const KEY = aKey(FIELDS);
const CLOSED = { enabled: false, ...INTERIM };
const AGREED = { plan: 'enterprise', perMinute: 900, perDay: 9_000 } as const;
const ENDS = Date.UTC(2031, 0, 1);
const BY_HAND = { recordId: 'f'.repeat(64) };
const SUSPENDED = { enabled: false, suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true };

const record = (differences: Partial<KeyRecord> = {}): KeyRecord => ({ ...KEY, ...differences });
const unapplied = (seconds: number, differences: Partial<KeyRecord> = {}): KeyRecord =>
  record({ unappliedSince: NOW - seconds * SECOND, ...differences });

/** The key in API Gateway, on its plan, except for what the test says. */
function live(fields: Partial<GatewayFields> = {}, differences: Partial<LiveKey> = {}): LiveKey {
  const said = { ...FIELDS, expiresAtMs: undefined, ...fields };
  const { recordId } = KEY;
  const named = { keyId: 'k1', value: recordId, recordId, name: said.name, enabled: said.enabled };
  return {
    ...named,
    createdAt: 0,
    tags: {},
    usagePlanId: said.plan,
    fields: said,
    problem: undefined,
    ...differences,
  };
}
const onNoPlan = (fields: Partial<GatewayFields> = {}): LiveKey =>
  live(fields, { usagePlanId: undefined, fields: undefined });
const unreadable = (enabled = true): LiveKey => live({ enabled }, { fields: undefined, problem: 'is odd' });
const GONE = undefined;

/** What `reconcile` says of a key, without the record: [its kind, what else]; of what is applied, what it changes. */
function stepOf(of: KeyRecord | undefined, key: LiveKey | undefined): unknown[] {
  const { kind, ...rest } = reconcile(of, key, NOW);
  const { record: same, ...what } = { record: of, ...rest };
  expect(same).toBe(of);
  return [kind, ...Object.values(what), ...(kind === 'apply' && of ? [differingFields(of, key)] : [])];
}

const REVOKED = record({ ...revocation(NOW - 60 * SECOND) });

type Row = [what: string, record: KeyRecord | undefined, live: LiveKey | undefined, ...step: unknown[]];

const atWork: Row[] = [
  ['on another plan', unapplied(59.9), live({ plan: 'pro' }), 'leave'],
  ['not there yet', unapplied(59.9, { keyId: undefined }), GONE, 'leave'],
  ['deleted', unapplied(59.9), GONE, 'leave'],
  ['disabled', unapplied(59.9), live({ enabled: false }), 'leave'],
];

const cutOff: Row[] = [
  ['on another plan', unapplied(60), live({ plan: 'pro', ...plans.pro.limits }), 'apply', ['plan']],
  ['on no plan', unapplied(60), onNoPlan(), 'apply', ['plan']],
  ['on no plan, and came back with a copy', record({ unappliedSince: 0 }), onNoPlan(), 'changed', CLOSED],
  ['on no plan, with another name', unapplied(60), onNoPlan({ name: 'b' }), 'apply', ['plan', 'name']],
  ['not there yet', unapplied(60, { keyId: undefined }), GONE, 'apply', ['key']],
  ['there, without its id in the record', unapplied(60, { keyId: undefined }), live(), 'apply', ['keyId']],
  ['disabled', unapplied(60), live({ enabled: false }), 'apply', ['enabled']],
  ['suspended, and enabled there', unapplied(60, SUSPENDED), live(), 'apply', ['enabled']],
  ['without its end', unapplied(60, { expiresAtMs: NOW }), live(), 'apply', ['expiresAtMs']],
  ['with other limits', unapplied(60, AGREED), live({ ...AGREED, perDay: 1 }), 'apply', ['perDay']],
  ['with the limits of another catalog', unapplied(60, { perMinute: 7 }), live(), 'leave'],
  ['deleted', unapplied(60), GONE, 'apply', ['key']],
  ['deleted, and blocked', unapplied(60, { enabled: false }), GONE, 'leave'],
  ['deleted, and made by hand', unapplied(60, BY_HAND), GONE, 'changed', CLOSED],
  ['restored, and not there', record({ unappliedSince: 0, keyId: undefined }), GONE, 'apply', ['key']],
  ['the same', unapplied(179.9), live(), 'leave'],
  ['the same for three minutes', unapplied(180), live(), 'cleared', { unappliedSince: undefined, ...INTERIM }],
];

const edits: Row[] = [
  ['the same', record(), live(), 'leave'],
  ['moved', record(), live({ plan: 'pro', perMinute: 1 }), 'changed', { plan: 'pro', perMinute: 1, ...INTERIM }],
  ['renamed', record(), live({ name: 'b' }), 'changed', { name: 'b', ...INTERIM }],
  ['given an end', record(), live({ expiresAtMs: 5 }), 'changed', { expiresAtMs: 5, ...INTERIM }],
  ['freed of its end', record({ expiresAtMs: 5 }), live(), 'changed', { expiresAtMs: undefined, ...INTERIM }],
  ['disabled', record(), live({ enabled: false }), 'changed', CLOSED],
  ['enabled', record({ enabled: false }), live(), 'changed', { enabled: true, ...INTERIM }],
  ['tagged', record(AGREED), live({ ...AGREED, perMinute: 7 }), 'changed', { perMinute: 7, ...INTERIM }],
  ['disabled, of a copy', record({ unappliedSince: 0 }), live({ enabled: false }), 'changed', CLOSED],
  ['made again', record(), live({ keyId: 'k2' }, { keyId: 'k2' }), 'changed', { keyId: 'k2', ...INTERIM }],
  [
    'suspended, and renamed',
    record(SUSPENDED),
    live({ enabled: false, name: 'b' }),
    'changed',
    { name: 'b', ...INTERIM },
  ],
  ['suspended, and the same', record(SUSPENDED), live({ enabled: false }), 'leave'],
  ['suspended, and enabled', record(SUSPENDED), live(), 'apply', ['enabled']],
  ['suspended, enabled and renamed', record(SUSPENDED), live({ name: 'b' }), 'changed', { name: 'b', ...INTERIM }],
  ['of another catalog', record({ perMinute: 7 }), live(), 'catalog', { perMinute: plans.free.limits.perMinute }],
  ['on no plan', record(), onNoPlan(), 'changed', CLOSED],
  ['on no plan, and closed before', record({ enabled: false }), onNoPlan(), 'leave'],
  ['deleted', record(), GONE, 'changed', CLOSED],
  ['deleted, and blocked before', record({ enabled: false }), GONE, 'leave'],
];

const others: Row[] = [
  ['revoked, and there', REVOKED, live(), 'delete'],
  ['revoked, and there with a tag that cannot be read', REVOKED, unreadable(), 'delete'],
  ['revoked, and gone', REVOKED, GONE, 'leave'],
  ['made by hand', GONE, live({}, { value: 'by hand' }), 'add', { ...FIELDS, expiresAtMs: undefined }],
  ['of our form, without a record', GONE, live(), 'report', expect.stringContaining('so its tokens are invalid')],
  ['of our form, on no plan of this stage', GONE, onNoPlan(), 'leave'],
  ['without a record, with a tag that cannot be read', GONE, unreadable(), 'report', 'The key k1 is odd.'],
  ['with a tag that cannot be read', record(), unreadable(), 'report', 'The key k1 is odd.'],
  ['with one, and disabled', record(), unreadable(false), 'changed', { enabled: false, ...INTERIM }],
  ['with one, and came back with a copy', record({ unappliedSince: 0 }), unreadable(), 'report', 'The key k1 is odd.'],
  ['with one, unapplied', unapplied(60), unreadable(false), 'apply', ['plan', 'enabled']],
];

describe.each([
  ['a key that is pending sync for less than a minute is left to its command:', atWork],
  ['a key that is pending sync for longer is made equal to its record:', cutOff],
  ['an edit of a synced key is adopted, and blocking wins:', edits],
  ['a key that is', others],
])('%s', (_, rows) => {
  test.each(rows)('%s', (__, of, key, ...step) => {
    expect(stepOf(of, key)).toStrictEqual(step);
  });
});

test.each<[how: string | undefined, record: Partial<KeyRecord>, live: LiveKey | undefined]>([
  ['is disabled', {}, live({ enabled: false })],
  ['is on no usage plan', {}, onNoPlan()],
  ['is disabled and is on no usage plan', {}, onNoPlan({ enabled: false })],
  ['expires sooner', {}, live({}, { tags: { expires: '2030-12-31' } })],
  ['expires sooner', { expiresAtMs: ENDS }, live({}, { tags: { expires: '2030-12-31' } })],
  ['expires sooner', { expiresAtMs: ENDS }, live({}, { tags: { expires: 'soon' } })],
  [undefined, { expiresAtMs: ENDS }, live({}, { tags: { expires: '2031-01-01' } })],
  [undefined, { expiresAtMs: ENDS }, live()],
  [undefined, SUSPENDED, onNoPlan({ enabled: false })],
  [undefined, {}, live({ plan: 'pro' })],
  [undefined, {}, unreadable()],
  ['was deleted', {}, GONE],
  [undefined, { keyId: undefined }, GONE],
])('what applying a record would unblock in API Gateway: %j', (how, of, key) => {
  const problem =
    how &&
    `The key k1 ${how} in API Gateway, unlike its record, so it is ${key ? 'unblocked' : 'created anew'} there. `;
  expect(openingProblem(record(of), key)?.split('To block')[0]).toBe(problem);
});
