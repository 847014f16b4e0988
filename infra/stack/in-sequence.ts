import type { IConstruct } from 'constructs';

/** Makes CloudFormation create and change resources one after the other, where AWS throttles concurrent calls. */
export function inSequence(resources: readonly IConstruct[]): void {
  let previous: IConstruct | undefined;
  for (const each of resources) {
    if (previous) each.node.addDependency(previous);
    previous = each;
  }
}
