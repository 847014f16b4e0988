import leven from 'leven';
import { getGatewayKey } from '../../../shared/key-registry/gateway-client.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { visible } from '../text-format.ts';
import { revokedError } from './change-record.ts';
import { allRecords, unknownKey } from './find-key.ts';

interface NamedKey {
  readonly id: string;
  readonly revoked: boolean;
}

/** Keys that are listed in a message, or suggested. */
const MAX_LISTED = 3;

/**
 * The id of the key that an admin names: by the id, or by the name where no other key has it.
 *
 * @throws AdminError where there is none, there are several, or it was revoked
 */
export async function keyIdOf(target: Target, text: string): Promise<string> {
  const { id, revoked } = await namedKey(target, text);
  if (revoked) throw revokedError(id);
  return id;
}

/** The same, also of a key that was revoked. */
export async function namedKey(target: Target, text: string): Promise<NamedKey> {
  if (text.trim() === '') throw unknownKey('without a name');
  if (await getGatewayKey(target.gateway, text)) return { id: text, revoked: false };
  const records = await allRecords(target);
  const known = records.find(({ keyId }) => keyId === text);
  if (known) return { id: text, revoked: known.revoked };
  const wanted = comparable(text);
  const named = records.filter(({ name }) => comparable(name) === wanted);
  const open = named.filter(({ revoked }) => !revoked);
  const [only = named[0], another] = open;
  if (another) {
    const ids = open.slice(0, MAX_LISTED).map(({ keyId }) => keyId);
    const more = open.length > ids.length ? ' …' : '';
    throw new AdminError(`${open.length} keys have the name ${text}. Name one by its id: ${ids.join(', ')}${more}`);
  }
  if (only) return { id: only.keyId, revoked: only.revoked };
  throw unknownKey(text, similar(wanted, records));
}

const comparable = (name: string): string => visible(name).trim().toLowerCase();

/** Keys with a name or an id that is like a text, the most alike first. */
function similar(text: string, records: readonly KeyRecord[]): KeyRecord[] {
  const difference = ({ name, keyId }: KeyRecord): number =>
    comparable(name).includes(text) ? 0 : Math.min(leven(comparable(name), text), leven(keyId, text));
  return records
    .filter(({ revoked }) => !revoked)
    .map((record) => ({ record, by: difference(record) }))
    .filter(({ by }) => by <= Math.max(1, text.length / 4))
    .toSorted((a, b) => a.by - b.by)
    .slice(0, MAX_LISTED)
    .map(({ record }) => record);
}
