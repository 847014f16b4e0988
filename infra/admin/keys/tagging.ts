import { TagResourceCommand, UntagResourceCommand } from '@aws-sdk/client-api-gateway';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import type { Target } from '../target.ts';
import { unlessGone } from './unless-gone.ts';

/** What carries tags: an API key or a usage plan, as its ARN names it. */
type Tagged = 'apikeys' | 'usageplans';

/** Sets tags of a key or a usage plan, if it is there. */
export async function tag({ gateway }: Target, kind: Tagged, id: string, tags: Record<string, string>): Promise<void> {
  const resourceArn = await arnOf(gateway, kind, id);
  await unlessGone(gateway.send(new TagResourceCommand({ resourceArn, tags })));
}

/** Takes tags away, where they and the key or usage plan are there. */
export async function untag({ gateway }: Target, kind: Tagged, id: string, tagKeys: string[]): Promise<void> {
  const resourceArn = await arnOf(gateway, kind, id);
  await unlessGone(gateway.send(new UntagResourceCommand({ resourceArn, tagKeys })));
}

/** Says that a key or a usage plan is complete, if it is there. */
export function finish(target: Target, kind: Tagged, id: string): Promise<void> {
  return untag(target, kind, id, [gatewayTags.unfinished, gatewayTags.obsolete]);
}

async function arnOf(gateway: Target['gateway'], kind: Tagged, id: string): Promise<string> {
  return `arn:aws:apigateway:${await gateway.config.region()}::/${kind}/${id}`;
}
