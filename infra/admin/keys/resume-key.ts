import type { Target } from '../target.ts';
import { changeKey, waitOutMemory } from './change-key.ts';
import { findKey } from './find-key.ts';
import { type KeyView, keyView } from './key-view.ts';

export interface Resumption {
  readonly view: KeyView;
  /** Whether it was closed before. */
  readonly wasClosed: boolean;
}

/** Lets a suspended key in again, whatever suspended it. What is closed while this goes on stays closed. */
export async function resumeKey(target: Target, key: string): Promise<Resumption> {
  let wasClosed = false;
  const open = { enabled: true, suspendedUntil: 0, suspendedByAdmin: false, minuteRefused: 0 };
  const change = (now: { readonly enabled: boolean; readonly suspendedUntil: number }) => {
    wasClosed = !now.enabled || now.suspendedUntil > Date.now();
    return wasClosed ? open : {};
  };
  const resumed = await changeKey(target, await findKey(target, key), change, { isOnce: true });
  if (wasClosed) await waitOutMemory(target);
  return { view: keyView(resumed), wasClosed };
}
