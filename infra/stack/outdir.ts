import { Stage } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * The directory of the cloud assembly. The app writes all its files there: an interrupted synthesis leaves nothing
 * elsewhere.
 */
export function outdirOf(construct: IConstruct): string {
  const { root } = construct.node;
  if (Stage.isStage(root)) return root.outdir;
  throw new Error(`${construct.node.path} is in no CDK app`);
}
