import { createHash } from 'node:crypto';
import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { describe, expect, test } from '@jest/globals';
import type { CustomerPlan } from '../../../shared/key-registry/gateway.ts';
import {
  liveKey,
  readGatewayState,
  readLiveKey,
  recordIdOf,
  shortOfKeys,
} from '../../../shared/key-registry/live-key.ts';
import type { PlanId } from '../../../shared/keys/plans.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { aUsagePlan } from '../../support/gateway-records.ts';
import { KeyRegistry } from './key-registry.ts';
import { parsed } from '../../support/tables.ts';

const ISSUED = parsed(generateToken()).recordId;
const CONSOLE_VALUE = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';

const NO_TOKEN = 'has an invalid value: delete it, and create one with npm run admin -- keys create';
const TOO_MANY = 'has limits in its tags above 48000 per minute or 69120000 per day, the maximum of a key';
const FOREIGN = expect.stringMatching(/^is on the usage plan Acme, which is not of this service: tag that with plan/);
const BAD_LIMITS = 'needs both tags per-minute and per-day, as numbers from 1';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const tags = { 'per-minute': '5000', 'per-day': '1000000' };

const registry = new KeyRegistry();

const state = () => readGatewayState(registry.target.gateway, registry.target.apiStage);

/** What a key on a usage plan says of a record. */
const readOf = (key: ApiKey, plan: CustomerPlan['plan'] = 'free') =>
  liveKey({ id: 'k1', value: ISSUED, name: 'acme', enabled: true, ...key }, { usagePlanId: 'own', name: 'Acme', plan });

describe('a key of API Gateway', () => {
  test.each<[string, string, string | undefined]>([
    ['of a key that the admin command has made', ISSUED, ISSUED],
    ['made in the console', CONSOLE_VALUE, sha256(CONSOLE_VALUE)],
    ['almost that of an issued key', `${ISSUED}x`, sha256(`${ISSUED}x`)],
    ['that is a whole token', generateToken(), undefined],
    ['that is short, and begins as one', 'psk_1', undefined],
    ['that is a hash', 'a1'.repeat(32), undefined],
    ['that no bearer token can have', `${CONSOLE_VALUE} `, undefined],
  ])('has the record id of its value: %s', (_, value, recordId) => {
    expect(recordIdOf(value)).toBe(recordId);
    const reading = recordId === undefined ? { problem: NO_TOKEN } : { fields: { name: 'acme' } };
    expect(readOf({ value })).toMatchObject(reading);
  });

  test.each<[string, ApiKey, object, PlanId]>([
    ['a longer name cut to 48', { name: 'n'.repeat(49) }, { name: `${'n'.repeat(45)}…` }, 'free'],
    ['a name of 48 bytes in 12 characters', { name: '🐾'.repeat(12) }, { name: '🐾'.repeat(12) }, 'free'],
    ['no part of a character at the cut', { name: `n${'🐾'.repeat(13)}` }, { name: `n${'🐾'.repeat(11)}…` }, 'free'],
    ['the limits of the catalog, whatever its tags are', { tags }, { perMinute: 60, perDay: 1_000 }, 'free'],
    ['its own limits on the Enterprise plan', { tags }, { perMinute: 5_000, perDay: 1_000_000 }, 'enterprise'],
    [
      'the maximum agreed limits',
      { tags: { 'per-minute': '48000', 'per-day': '69120000' } },
      { perMinute: 48_000, perDay: 69_120_000 },
      'enterprise',
    ],
    ['an expiry', { tags: { expires: '2031-02-03' } }, { expiresAtMs: Date.UTC(2031, 1, 3) }, 'free'],
  ])('has %s', (_, key, fields, plan) => {
    expect(readOf(key, plan)).toMatchObject({ fields });
  });

  test.each<[string, ApiKey['tags'], string, PlanId]>([
    ['without agreed limits', {}, 'is on the Enterprise plan without agreed limits: tag it', 'enterprise'],
    ['with a limit that begins with 0', { ...tags, 'per-minute': '060' }, BAD_LIMITS, 'enterprise'],
    ['with a line end behind a limit', { ...tags, 'per-minute': '60\n' }, BAD_LIMITS, 'enterprise'],
    ['with a limit of 13 digits', { ...tags, 'per-day': '1000000000000' }, BAD_LIMITS, 'enterprise'],
    ['with more per minute than an item can take', { ...tags, 'per-minute': '48001' }, TOO_MANY, 'enterprise'],
    ['with more per day than that allows', { ...tags, 'per-day': '69120001' }, TOO_MANY, 'enterprise'],
    ['with one limit only', { 'per-day': '1000' }, BAD_LIMITS, 'enterprise'],
    ['with a word as its expiry', { expires: 'tomorrow' }, 'has a tag expires that is not an ISO 8601 date', 'free'],
  ])('is blocked %s', (_, own, problem, plan) => {
    expect(readOf({ tags: own }, plan)).toMatchObject({ fields: undefined, problem });
  });
});

describe('a key that is read individually equals the listed one; its plan is', () => {
  test.each<[string, string | undefined, object]>([
    ['that of its usage plan', 'free', { usagePlanId: 'free', fields: { plan: 'free' } }],
    ['none, if it is on none', undefined, { usagePlanId: undefined, fields: undefined }],
    ['none, if it is on an internal one', 'overflow', { usagePlanId: undefined, fields: undefined }],
    ['none, if it is on one of another stage', 'other', { usagePlanId: undefined, fields: undefined }],
    ['unreadable, if its tag is wrong', 'own', { usagePlanId: 'own', problem: FOREIGN }],
  ])('%s', async (_, planId, expected) => {
    registry.records.putUsagePlan(aUsagePlan({ id: 'own', name: 'Acme', tags: { plan: 'por' } }));
    const apiStages = [{ ...registry.target.apiStage, stage: 'v2' }];
    registry.records.putUsagePlan(aUsagePlan({ id: 'other', apiStages, tags: { plan: 'free' } }));
    const keyId = registry.putKey({ value: ISSUED }, planId);
    const live = await readLiveKey(registry.target.gateway, registry.target.apiStage, keyId);

    expect(live).toMatchObject({ keyId, value: ISSUED, recordId: ISSUED, ...expected });
    expect((await state()).keys).toEqual([live]);
  });
});

describe('the lists of API Gateway', () => {
  test('omit the keys of a usage plan that is deleted meanwhile', async () => {
    registry.records.putUsagePlan(aUsagePlan({ id: 'own', tags: { plan: 'pro' } }));
    registry.putKey({}, 'own');
    registry.before.set('GetUsagePlanKeysCommand', () => registry.records.plans.delete('own'));

    expect((await state()).keys).toMatchObject([{ usagePlanId: undefined }]);
  });

  test('are refused if a key lacks its value', async () => {
    const keyId = registry.putKey({ value: '' }, 'free');

    await expect(state()).rejects.toThrow(`API Gateway did not return the value of the key ${keyId}`);
  });

  test('report a problem at 90% of the key quota of the account', () => {
    expect(shortOfKeys(8_999)).toEqual([]);
    expect(shortOfKeys(9_000)).toEqual(['The account has 9000 of the 10000 API keys allowed in the region.']);
  });
});
