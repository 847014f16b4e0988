import * as v from 'valibot';
import { arn } from '../local-endpoint.ts';
import { LocalServerError } from './local-server-error.ts';
import type { ServedStack } from './template/stack.ts';

/** A statement of a role's policies: allowed actions and resources, both possibly with `*`. */
export interface Grant {
  readonly actions: readonly string[];
  readonly resources: readonly string[];
}

const oneOrMore = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((value) => [value].flat()),
);
const statementsSchema = v.array(
  v.object({ Action: oneOrMore, Effect: v.string(), Resource: oneOrMore, Condition: v.optional(v.unknown()) }),
);

/** A role's permissions in DynamoDB. @throws LocalServerError for other statements than Allow on resources */
export function grantsOf(roleArn: string, stack: ServedStack): Grant[] {
  const policies = stack.resources('AWS::IAM::Policy');
  const ofRole = policies.filter((policy) =>
    policy.read('Roles', v.array(v.string())).some((role) => roleArn.endsWith(`:${role}`)),
  );
  return ofRole.flatMap((policy) =>
    policy.read('PolicyDocument.Statement', statementsSchema).flatMap(({ Action, Effect, Resource, Condition }) => {
      const actions = Action.filter((action) => action === '*' || action.startsWith('dynamodb:'));
      if (actions.length === 0) return [];
      if (Effect === 'Allow' && Condition === undefined) return [{ actions, resources: Resource }];
      throw new LocalServerError(
        `Resource ${policy.logicalId}: the local server supports no conditions or Deny statements`,
      );
    }),
  );
}

/** The tables in a call's body. */
const callSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    TableName: v.optional(v.string()),
    RequestItems: v.optional(v.record(v.string(), v.unknown()), {}),
    TransactItems: v.optional(v.array(v.record(v.string(), v.object({ TableName: v.string() }))), []),
  }),
);

/**
 * Why a role may not make a call; undefined if it may. A transaction requires the permission of each write.
 *
 * @param operation such as `UpdateItem`
 * @param body of the call, JSON text
 */
export function iamDenial(grants: readonly Grant[], operation: string, body: string): string | undefined {
  const call = v.safeParse(callSchema, body);
  // The engine itself rejects invalid calls.
  if (!call.success) return undefined;
  const { TableName = '*', RequestItems, TransactItems } = call.output;
  const writes = TransactItems.flatMap((item) =>
    Object.entries(item).map(([kind, written]) => [`${kind}Item`, written.TableName]),
  );
  const batch = Object.keys(RequestItems).map((name) => [operation, name]);
  const calls = [writes, batch].find((each) => each.length > 0) ?? [[operation, TableName]];
  const wanted = calls.map(([action, on]) => [`dynamodb:${action}`, arn('dynamodb', `table/${on}`)] as const);
  const refused = wanted.find((each) => !grants.some((grant) => allows(grant, ...each)));
  return refused && `The role of the function is not authorized to perform: ${refused.join(' on ')}`;
}

const allows = ({ actions, resources }: Grant, action: string, resource: string): boolean =>
  actions.some((pattern) => matchesPattern(pattern, action)) &&
  resources.some((pattern) => matchesPattern(pattern, resource));

/**
 * Whether a value matches a pattern of a policy, in which `*` stands for any text. Each part between two `*` is
 * searched once, at its first place, so the time is linear.
 */
export function matchesPattern(pattern: string, value: string): boolean {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return pattern === value;
  let at = value.startsWith(start) ? start.length : Infinity;
  for (const part of parts) {
    const found = value.indexOf(part, at);
    at = found < 0 ? Infinity : found + part.length;
  }
  return value.endsWith(end) && at + end.length <= value.length;
}
