import type { StackProps } from 'aws-cdk-lib';
import type { StageSettings } from '../stages.ts';

/** Common properties of a stage's stacks. CloudFormation adds a stack's tags to all its resources. */
export const stackProps = ({ name, retainData }: StageSettings, what: string): StackProps => ({
  description: `${what} (${name})`,
  terminationProtection: retainData,
  // Cost allocation tags, once activated in the billing console.
  tags: { service: 'pet-store-inventory', stage: name },
});
