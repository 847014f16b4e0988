import { type components, requiredFields } from './schema.ts';

/** Names of the objects that the service answers with. */
export type ShapeName = keyof typeof requiredFields & keyof components['schemas'];

/** An object of that name. */
export type Shape<Name extends ShapeName> = components['schemas'][Name];

/**
 * Whether the value has all that it must have. What else it has, and new words for a status, are left alone: the service
 * may be newer than the client.
 */
export function hasShape<Name extends ShapeName>(name: Name, value: unknown): value is Shape<Name> {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(requiredFields[name]).every(([field, kind]) => typeof Reflect.get(value, field) === kind);
}

/** Whether the value is a list of such objects. */
export function isListOf<Name extends ShapeName>(name: Name, value: unknown): value is Shape<Name>[] {
  return Array.isArray(value) && value.every((entry) => hasShape(name, entry));
}
