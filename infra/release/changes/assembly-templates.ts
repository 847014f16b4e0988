import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { reasonOf } from '../../admin/admin-error.ts';
import { ReleaseError } from '../release-error.ts';
import { asTemplate, type StackIdentity, type Template } from './template.ts';

/** A stack as it was synthesized. */
export interface SynthesizedTemplate extends StackIdentity {
  readonly template: Template;
}

/** The stacks of all stages in a cloud assembly, in the order of their ids. @throws ReleaseError where it has none */
export function readTemplates(folder: string): SynthesizedTemplate[] {
  const stacks = read(folder).map(({ hierarchicalId: id, stackName: name, template }) => {
    const parsed = asTemplate(template);
    if (!parsed) throw new ReleaseError(`The stack ${id} in ${folder} has no template.`);
    return { id, name, template: parsed };
  });
  if (stacks.length === 0) throw new ReleaseError(`The cloud assembly ${folder} has no stacks.`);
  return stacks.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

function read(folder: string): CloudAssembly['stacks'] {
  try {
    // Templates are the same in every version; a pull request may bring a newer CDK than the one that reads it here.
    return new CloudAssembly(folder, { skipVersionCheck: true }).stacksRecursively;
  } catch (error) {
    throw new ReleaseError(`${folder} is no cloud assembly: ${reasonOf(error)}. Make one with npm run synth.`);
  }
}
