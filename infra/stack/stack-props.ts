import type { StackProps } from 'aws-cdk-lib';
import type { StageSettings } from '../stages.ts';

/** What the stacks of a stage have in common. CloudFormation puts the tags of a stack on all that it makes. */
export const stackProps = ({ name, retainData }: StageSettings, what: string): StackProps => ({
  description: `${what} (${name})`,
  terminationProtection: retainData,
  // Of cost allocation, once they are activated in the billing console.
  tags: { service: 'pet-store-inventory', stage: name },
});
