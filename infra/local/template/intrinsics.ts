import { LocalServerError } from '../local-server-error.ts';

/** Values of `Ref` and `Fn::GetAtt` in one stack. Undefined: unsupported by the local server. */
export interface Names {
  ref(name: string): string | undefined;
  attribute(resource: string, attribute: string): string | undefined;
  /** The local text for one that the template joins of others. */
  joined(text: string): string;
}

/**
 * Resolves the intrinsic functions in a template value.
 *
 * @param place of the value, for the error
 * @throws LocalServerError for a function or a name that the local server does not support
 */
export function resolveIntrinsics(value: unknown, names: Names, place: string): unknown {
  if (Array.isArray(value)) return value.map((part) => resolveIntrinsics(part, names, place));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [key, resolveIntrinsics(part, names, place)] as const);
  const [name, argument] = entries[0] ?? [''];
  if (entries.length !== 1 || !(name === 'Ref' || name.startsWith('Fn::'))) return Object.fromEntries(entries);
  const result = call(name, argument, names);
  if (result !== undefined) return result;
  throw new LocalServerError(`${place}: the local server does not support ${name} ${JSON.stringify(argument)}`);
}

function call(name: string, argument: unknown, names: Names): unknown {
  const [first, second]: unknown[] = Array.isArray(argument) ? argument : [argument];
  if (name === 'Ref') return names.ref(String(first));
  if (name === 'Fn::GetAtt') return names.attribute(String(first), String(second));
  if (name === 'Fn::Join') return Array.isArray(second) ? names.joined(second.join(String(first))) : undefined;
  if (name === 'Fn::Select') return Array.isArray(second) ? second[Number(first)] : undefined;
  if (name === 'Fn::Split') return String(second).split(String(first));
  return name === 'Fn::Sub' ? substitute(String(first), names) : undefined;
}

/** Replaces each `${Name}`; undefined if one of them is unknown. */
function substitute(text: string, names: Names): string | undefined {
  const values = Array.from(text.matchAll(/\$\{([^{}]+)\}/g), ([, name = '']) => names.ref(name));
  if (values.includes(undefined)) return undefined;
  return text.replaceAll(/\$\{[^{}]+\}/g, () => values.shift() ?? '');
}
