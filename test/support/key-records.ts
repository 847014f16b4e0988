import { randomBytes } from 'node:crypto';
import { type KeyRecord, unusedCounters } from '../../shared/keys/key-record.ts';

/** A key on the Free plan that was never used, except for what the test says. */
export function aKey(differences: Partial<KeyRecord> = {}): KeyRecord {
  return {
    keyHash: randomBytes(32).toString('hex'),
    keyId: 'k3y1d',
    lineage: 'k3y1d',
    name: 'acme',
    plan: 'free',
    perMinute: 60,
    perDay: 1_000,
    enabled: true,
    createdAt: 0,
    usageIdentifier: 'hash',
    interimUntil: 0,
    revision: 0,
    revoked: false,
    ...unusedCounters,
    ...differences,
  };
}
