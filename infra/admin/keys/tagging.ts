import { NotFoundException, TagResourceCommand, UntagResourceCommand } from '@aws-sdk/client-api-gateway';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import type { Target } from '../target.ts';

/** What carries tags: an API key or a usage plan, as its ARN names it. */
type Tagged = 'apikeys' | 'usageplans';

/** Sets tags of a key or a usage plan. */
export async function tag({ gateway }: Target, kind: Tagged, id: string, tags: Record<string, string>): Promise<void> {
  await gateway.send(new TagResourceCommand({ resourceArn: await arnOf(gateway, kind, id), tags }));
}

/** Takes tags away, where they and the key or usage plan are there. */
export async function untag({ gateway }: Target, kind: Tagged, id: string, tagKeys: string[]): Promise<void> {
  try {
    await gateway.send(new UntagResourceCommand({ resourceArn: await arnOf(gateway, kind, id), tagKeys }));
  } catch (error) {
    if (!(error instanceof NotFoundException)) throw error;
  }
}

/** Says that a key or a usage plan is complete. @throws NotFoundException where it is gone */
export async function finish({ gateway }: Target, kind: Tagged, id: string): Promise<void> {
  const tagKeys = [gatewayTags.unfinished, gatewayTags.obsolete];
  await gateway.send(new UntagResourceCommand({ resourceArn: await arnOf(gateway, kind, id), tagKeys }));
}

async function arnOf(gateway: Target['gateway'], kind: Tagged, id: string): Promise<string> {
  return `arn:aws:apigateway:${await gateway.config.region()}::/${kind}/${id}`;
}
