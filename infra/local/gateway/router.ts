import { TrieRouter } from 'hono/router/trie-router';

export interface Match<Target> {
  readonly target: Target;
  readonly resourcePath: string;
  /** As sent: API Gateway does not decode them (serverless/serverless#5037). */
  readonly pathParameters: Readonly<Record<string, string>>;
}

/**
 * A router with API Gateway's precedence: a literal path part before `{name}` before `{name+}`. If the most specific
 * resource lacks a method, API Gateway also tries those that end in `{name+}`: measured on AWS, as the slashes are
 * (docs/operating/deploying.md).
 *
 * @param routes of paths such as `/inventory/{petId}` or `/{path+}`, and HTTP methods, or `ANY`
 */
export function createRouter<Target>(
  routes: readonly { readonly path: string; readonly method: string; readonly target: Target }[],
) {
  const resources = new TrieRouter<readonly [path: string, methods: ReadonlyMap<string, Target>]>();
  const byPath = Map.groupBy(routes, ({ path }) => path);
  // The router returns matches in the order in which they were added.
  for (const path of [...byPath.keys()].toSorted((one, other) => (rankOf(one) < rankOf(other) ? -1 : 1))) {
    const methods = new Map(byPath.get(path)?.map(({ method, target }) => [method, target]));
    resources.add('ALL', path.replaceAll(/\{([^{}+]+)(\+?)\}/g, asParameter), [path, methods]);
  }
  return (method: string, path: string): Match<Target> | undefined => {
    const [matches] = resources.match('ALL', path.replace(/^\/+/, '/'));
    for (const [index, [[resourcePath, methods], parameters]] of matches.entries()) {
      const isGreedy = resourcePath.endsWith('+}');
      const target = methods.get(method) ?? methods.get('ANY');
      if (target === undefined || (index > 0 && !isGreedy)) continue;
      const values = Object.entries(parameters).map(([name, value]) => [name, String(value).replace(/\/$/, '')]);
      return { target, resourcePath, pathParameters: Object.fromEntries(values) };
    }
    return undefined;
  };
}

/** A parameter of API Gateway in the router's syntax. */
const asParameter = (_: string, name: string, greedy: string): string => (greedy ? `:${name}{.+}` : `:${name}`);

/** Sorts by precedence. */
const rankOf = (path: string): string =>
  path
    .split('/')
    .map((part) => (part.endsWith('+}') ? 2 : Number(part.startsWith('{'))))
    .join('');
