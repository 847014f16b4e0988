import { CfnResource, Stage } from 'aws-cdk-lib';
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

/**
 * The directory of the cloud assembly. The app writes all its files there: an interrupted synthesis leaves nothing
 * elsewhere.
 */
export function outdirOf(construct: IConstruct): string {
  const { root } = construct.node;
  if (Stage.isStage(root)) return root.outdir;
  throw new Error(`${construct.node.path} is in no CDK app`);
}
