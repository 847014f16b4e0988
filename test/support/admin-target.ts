import { findTarget, type Target } from '../../infra/admin/target.ts';
import type { LocalHost } from './local-host.ts';

/** A local host as the admin command finds it. Only the pace is left out, which AWS needs and a laptop does not. */
export async function adminTarget(host: LocalHost): Promise<Target> {
  const target = await findTarget({ url: host.origin });
  target.gateway.middlewareStack.remove('paced');
  return target;
}

export function closeTarget({ gateway, documents }: Target): void {
  gateway.destroy();
  documents.destroy();
}

/** When the network fails: before a call is made, or after it was carried out, so that its answer is lost. */
export type CutMoment = 'before' | 'after';

/** Calls of the target to AWS. */
export interface CallCount {
  made: number;
}

/** Counts the calls of a target from now on, and cuts the network at one of them: that call fails, and all after it. */
export function cutNetwork(target: Target, atCall: number, moment: CutMoment): CallCount {
  const count: CallCount = { made: 0 };
  const run = async <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
    count.made += 1;
    if (count.made > atCall || (count.made === atCall && moment === 'before')) throw new Error('the network is cut');
    const answer = await call();
    if (count.made === atCall) throw new Error('the network is cut');
    return answer;
  };
  target.gateway.middlewareStack.add((next) => (args) => run(() => next(args)), { step: 'initialize' });
  target.documents.middlewareStack.add((next) => (args) => run(() => next(args)), { step: 'initialize' });
  return count;
}

/** The names of the failures that {@link cutNetwork} causes. */
export const NETWORK_CUT = 'the network is cut';
