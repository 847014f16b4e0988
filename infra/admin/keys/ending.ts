import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import type { KeyChange } from '../../../shared/key-registry/key-table.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { reasonOf } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { tag } from './gateway-calls.ts';

/**
 * The time of an ending, for the record. It never goes back, or a backup could pass for newer than it is.
 *
 * @param tagged what the tag of a key that was restored has
 */
export const endingNow = ({ tokensEndedAt = 0 }: KeyRecord, tagged = 0): KeyChange => ({
  tokensEndedAt: Math.max(Date.now(), tokensEndedAt + 1, tagged + 1),
});

/**
 * The same time for API Gateway, by which a record from a backup is known. The ending is done by then: where the tag cannot be
 * written, an admin is asked for it, and what follows goes on.
 */
export async function tagEnding(
  target: Target,
  { keyId, tokensEndedAt }: Pick<KeyRecord, 'keyId' | 'tokensEndedAt'>,
): Promise<void> {
  if (tokensEndedAt === undefined) return;
  try {
    await tag(target, keyId, { [gatewayTags.tokensEnded]: new Date(tokensEndedAt).toISOString() });
  } catch (error) {
    target.notices.incomplete(
      `Done, but for the tag ${gatewayTags.tokensEnded} of the key ${keyId} (${reasonOf(error)}): without it, a backup could bring ` +
        'the ended token back. Run npm run admin -- keys sync',
    );
  }
}
