import { CfnResource, Lazy, Stack, Stage } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** The resources of a type within a construct. */
export const resourcesOf = ({ node }: IConstruct, type: string): CfnResource[] =>
  node
    .findAll()
    .filter((one) => CfnResource.isCfnResource(one))
    .filter(({ cfnResourceType }) => cfnResourceType === type);

/** Makes CloudFormation create and change resources one after the other, where AWS throttles concurrent calls. */
export function inSequence(resources: readonly IConstruct[]): void {
  for (const [index, before] of resources.entries()) resources[index + 1]?.node.addDependency(before);
}

/** The resource of a construct. @throws Error if it has none */
export function resourceOf({ node }: IConstruct): CfnResource {
  if (CfnResource.isCfnResource(node.defaultChild)) return node.defaultChild;
  throw new Error(`${node.path} has no resource`);
}

/** Ends the logical id of a construct's resource with a text that is known when the app is synthesized. */
export function endLogicalId(construct: IConstruct, suffix: () => string): void {
  const resource = resourceOf(construct);
  const id = String(Stack.of(construct).resolve(resource.logicalId));
  resource.overrideLogicalId(Lazy.uncachedString({ produce: () => id + suffix() }));
}

/** The directory of the cloud assembly: an interrupted synthesis leaves nothing elsewhere. */
export function outdirOf(construct: IConstruct): string {
  const { root } = construct.node;
  if (Stage.isStage(root)) return root.outdir;
  throw new Error(`${construct.node.path} is in no CDK app`);
}
