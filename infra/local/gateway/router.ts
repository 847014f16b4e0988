import { TrieRouter } from 'hono/router/trie-router';

/** Where the requests to a path and a method go. */
export interface Route<Target> {
  /** Such as `/inventory/{petId}` or `/{path+}`. */
  readonly path: string;
  /** An HTTP method, or `ANY`. */
  readonly method: string;
  readonly target: Target;
}

export interface Match<Target> {
  readonly target: Target;
  readonly resourcePath: string;
  /** As they were sent: API Gateway decodes none (serverless/serverless#5037). */
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** Finds the method for a request as API Gateway does: a literal path part before `{name}` before `{name+}`. */
export class Router<Target> {
  readonly #resources = new TrieRouter<readonly [path: string, methods: ReadonlyMap<string, Target>]>();

  constructor(routes: readonly Route<Target>[]) {
    const byPath = Map.groupBy(routes, ({ path }) => path);
    // The router gives what takes a path in the order in which it was added.
    for (const path of [...byPath.keys()].toSorted((one, other) => (rankOf(one) < rankOf(other) ? -1 : 1))) {
      const methods = new Map(byPath.get(path)?.map(({ method, target }) => [method, target]));
      this.#resources.add('ALL', path.replaceAll(/\{([^{}+]+)(\+?)\}/g, asParameter), [path, methods]);
    }
  }

  /**
   * Undefined where no resource has the method. Where the one that takes the path most exactly lacks it, API Gateway
   * looks on among those that end in `{name+}`: measured on AWS, as the slashes are (docs/operating/deploying.md).
   */
  match(method: string, path: string): Match<Target> | undefined {
    const [matches] = this.#resources.match('ALL', path.replace(/^\/+/, '/'));
    for (const [index, [[resourcePath, methods], parameters]] of matches.entries()) {
      const isGreedy = resourcePath.endsWith('+}');
      const target = methods.get(method) ?? methods.get('ANY');
      if (target === undefined || (index > 0 && !isGreedy)) continue;
      const values = Object.entries(parameters).map(([name, value]) => [name, String(value).replace(/\/$/, '')]);
      return { target, resourcePath, pathParameters: Object.fromEntries(values) };
    }
    return undefined;
  }
}

/** A parameter of API Gateway's in the router's own words. */
const asParameter = (_: string, name: string, greedy: string): string => (greedy ? `:${name}{.+}` : `:${name}`);

/** Sorts before those that are tried later. */
const rankOf = (path: string): string =>
  path
    .split('/')
    .map((part) => (part.endsWith('+}') ? 2 : Number(part.startsWith('{'))))
    .join('');
