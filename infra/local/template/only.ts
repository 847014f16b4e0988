import { HostError } from '../host-error.ts';

/** The one resource of its kind. @throws HostError where there is none, or more than one */
export function only<Item>(items: readonly Item[], what: string): Item {
  const [item, ...others] = items;
  if (item === undefined || others.length > 0) {
    throw new HostError(`The local host serves templates with exactly one ${what}; this one has ${items.length}`);
  }
  return item;
}
