import * as v from 'valibot';

const oneOrMany = v.union([
  v.pipe(
    v.string(),
    v.transform((value) => [value]),
  ),
  v.array(v.string()),
]);

/** The policy document of an authorizer. Elements that this API's authorizer does not use are refused. */
export const policyDocumentSchema = v.strictObject({
  Version: v.literal('2012-10-17'),
  Statement: v.array(v.strictObject({ Effect: v.picklist(['Allow', 'Deny']), Action: oneOrMany, Resource: oneOrMany })),
});

export type PolicyDocument = v.InferOutput<typeof policyDocumentSchema>;

/** Whether the policy lets a method be invoked: some statement allows it and none denies it. */
export function allowsInvoke(policy: PolicyDocument, methodArn: string): boolean {
  const applying = policy.Statement.filter(
    ({ Action, Resource }) =>
      Action.some((pattern) => matches(pattern.toLowerCase(), 'execute-api:invoke')) &&
      Resource.some((pattern) => matches(pattern, methodArn)),
  );
  return applying.length > 0 && applying.every(({ Effect }) => Effect === 'Allow');
}

/** `*` stands for any run of characters, `?` for any one. */
function matches(pattern: string, text: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(text);
}
