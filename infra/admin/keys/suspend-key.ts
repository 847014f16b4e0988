import { NEVER } from '../../../shared/keys/verdict.ts';
import type { Target } from '../target.ts';
import { changeKey } from './change-key.ts';
import { findKey } from './find-key.ts';
import { type KeyView, keyView } from './key-view.ts';

/**
 * Refuses all requests of a key for a while (429), or until it is resumed (401: disabled, in API Gateway too).
 *
 * @param forMs milliseconds; undefined: until it is resumed
 */
export async function suspendKey(target: Target, key: string, forMs: number | undefined): Promise<KeyView> {
  const until = forMs === undefined ? NEVER : Date.now() + forMs;
  const suspended = await changeKey(target, await findKey(target, key), ({ suspendedUntil }) => ({
    // A suspension holds until it is over or resumed: another one only makes it longer.
    suspendedUntil: Math.max(until, suspendedUntil),
    suspendedByAdmin: true,
    ...(forMs === undefined && { enabled: false }),
  }));
  return keyView(suspended);
}
