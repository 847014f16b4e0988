import type { Grant } from '../dynamodb/access.ts';
import { HostError } from '../host-error.ts';
import type { ServedStack } from '../template/stack.ts';

/**
 * What a role may do in DynamoDB, by the policies that the template attaches to it.
 *
 * @throws HostError on a statement that does more than allow actions on resources
 */
export function grantsOf(roleArn: string, stack: ServedStack): Grant[] {
  const policies = stack.resources('AWS::IAM::Policy');
  return policies.flatMap(({ logicalId, properties: { Roles, PolicyDocument } }) => {
    if (!Roles.some((role) => roleArn.endsWith(`:${role}`))) return [];
    return PolicyDocument.Statement.flatMap(({ Action, Effect, Resource, Condition }) => {
      const actions = Action.filter((action) => action === '*' || action.startsWith('dynamodb:'));
      if (actions.length === 0) return [];
      if (Effect === 'Allow' && Condition === undefined) return [{ actions, resources: Resource }];
      throw new HostError(`Resource ${logicalId}: the local host knows no condition and no denial of DynamoDB's calls`);
    });
  });
}
