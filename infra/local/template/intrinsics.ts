import { HostError } from '../host-error.ts';

/** What `Ref`, `Fn::GetAtt` and `Fn::ImportValue` stand for in one stack. Undefined: nothing that the local host knows. */
export interface Names {
  ref(name: string): string | undefined;
  attribute(resource: string, attribute: string): string | undefined;
  imported(name: string): string | undefined;
}

/**
 * Resolves the intrinsic functions in a template value.
 *
 * @param place the property that has the value, for the error
 * @throws HostError for a function or a name that the local host does not know
 */
export function resolveIntrinsics(value: unknown, names: Names, place: string): unknown {
  const resolve = (part: unknown): unknown => resolveIntrinsics(part, names, place);
  if (Array.isArray(value)) return value.map(resolve);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [name, argument]: [string, unknown] = entries[0] ?? ['', undefined];
  if (entries.length !== 1 || !(name === 'Ref' || name.startsWith('Fn::'))) {
    return Object.fromEntries(entries.map(([key, part]) => [key, resolve(part)]));
  }
  const result = call(name, resolve(argument), names);
  if (result !== undefined) return result;
  throw new HostError(`${place}: the local host does not know ${name} ${JSON.stringify(argument)}`);
}

function call(name: string, argument: unknown, names: Names): unknown {
  const [first, second]: unknown[] = Array.isArray(argument) ? argument : [argument];
  if (name === 'Ref') return names.ref(String(first));
  if (name === 'Fn::GetAtt') return names.attribute(String(first), String(second));
  if (name === 'Fn::ImportValue') return names.imported(String(first));
  if (name === 'Fn::Join') return Array.isArray(second) ? second.join(String(first)) : undefined;
  if (name === 'Fn::Select') return Array.isArray(second) ? second[Number(first)] : undefined;
  if (name === 'Fn::Split') return String(second).split(String(first));
  return name === 'Fn::Sub' ? substitute(String(first), names) : undefined;
}

/** Replaces each `${Name}`; undefined where one of them is not known. */
function substitute(text: string, names: Names): string | undefined {
  const values = Array.from(text.matchAll(/\$\{([^{}]+)\}/g), ([, name = '']) => names.ref(name));
  if (values.includes(undefined)) return undefined;
  return text.replaceAll(/\$\{[^{}]+\}/g, () => values.shift() ?? '');
}
