import { TagResourceCommand, UntagResourceCommand } from '@aws-sdk/client-api-gateway';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import type { Target } from '../target.ts';

/** What carries tags: an API key or a usage plan, as its ARN names it. */
type Tagged = 'apikeys' | 'usageplans';

/** Sets tags of a key or a usage plan. */
export async function tag({ gateway }: Target, kind: Tagged, id: string, tags: Record<string, string>): Promise<void> {
  await gateway.send(new TagResourceCommand({ resourceArn: await arnOf(gateway, kind, id), tags }));
}

/** Says that a key or a usage plan is complete. */
export async function finish({ gateway }: Target, kind: Tagged, id: string): Promise<void> {
  const resourceArn = await arnOf(gateway, kind, id);
  await gateway.send(new UntagResourceCommand({ resourceArn, tagKeys: [gatewayTags.unfinished] }));
}

async function arnOf(gateway: Target['gateway'], kind: Tagged, id: string): Promise<string> {
  return `arn:aws:apigateway:${await gateway.config.region()}::/${kind}/${id}`;
}
