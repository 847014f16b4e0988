import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { workingToken } from '../../../shared/keys/working-token.ts';
import { parseToken } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { type KeyView, keyView, type TokenView, tokenView } from './key-view.ts';

export interface FoundToken {
  readonly key: KeyView;
  /** Null: the key has no such token. It has ended, or was never issued. */
  readonly token: TokenView | null;
}

/** The key that a token is of, by its handle, and whether it works. @throws AdminError where there is none */
export async function findToken({ keyTable }: Target, text: string): Promise<FoundToken> {
  const token = parseToken(text.trim());
  if (!token) throw new AdminError('This is no API key: it is mistyped, or cut off.');
  const record: KeyRecord | undefined = await keyTable.get(token.recordId);
  if (!record)
    throw new AdminError('No key of this service has such a token: it belongs to another stage, or its key is gone.');
  if (record.revoked) throw new AdminError(`It is of ${record.name} (${record.keyId}), which was revoked.`);
  const found = workingToken(record, token.hash, Date.now());
  return { key: keyView(record), token: found ? tokenView(found) : null };
}
