import { findTarget, type Target } from '../../infra/admin/target.ts';
import type { LocalHost } from './local-host.ts';

/**
 * A local host as the admin command finds it. Only the pace is left out, which AWS needs and a laptop does not,
 * and the pause after a change.
 */
export async function adminTarget(host: LocalHost): Promise<Target> {
  const target = await findTarget({ url: host.origin });
  target.gateway.middlewareStack.remove('paced');
  return { ...target, pause: () => Promise.resolve() };
}

export function closeTarget({ gateway, documents }: Target): void {
  gateway.destroy();
  documents.destroy();
}
