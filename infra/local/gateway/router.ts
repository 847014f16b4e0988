/** A resource of a REST API with its methods. */
interface Resource<Target> {
  readonly path: string;
  readonly parts: readonly string[];
  readonly methods: Map<string, Target>;
}

export interface Match<Target> {
  readonly target: Target;
  readonly resourcePath: string;
  /** As they were sent: API Gateway decodes none (serverless/serverless#5037). */
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** Finds the method for a request as API Gateway does: a literal path part before `{name}` before `{name+}`. */
export class Router<Target> {
  /** The one that takes a path more exactly comes first. */
  readonly #resources: Resource<Target>[] = [];

  /** @param path such as `/inventory/{petId}` or `/{path+}` @param method an HTTP method, or `ANY` */
  add(path: string, method: string, target: Target): void {
    const known = this.#resources.find((resource) => resource.path === path);
    if (known) return void known.methods.set(method, target);
    this.#resources.push({ path, parts: partsOf(path), methods: new Map([[method, target]]) });
    this.#resources.sort((one, other) => rankOf(one.parts).localeCompare(rankOf(other.parts)));
  }

  /**
   * Undefined where no resource has the method. Where the one that takes the path most exactly lacks it, API Gateway looks on
   * among those that end in `{name+}`: measured on AWS, as the slashes are (docs/operating/first-deploy.md).
   */
  match(method: string, path: string): Match<Target> | undefined {
    const parts = partsOf(path);
    let isTaken = false;
    for (const resource of this.#resources) {
      if (isTaken && !resource.path.endsWith('+}')) continue;
      const pathParameters = parametersOf(resource.parts, parts);
      if (!pathParameters) continue;
      const target = resource.methods.get(method) ?? resource.methods.get('ANY');
      if (target !== undefined) return { target, resourcePath: resource.path, pathParameters };
      isTaken = true;
    }
    return undefined;
  }
}

/** The parameters of a path that a resource takes; undefined where it does not. */
function parametersOf(
  pattern: readonly string[],
  parts: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const part = parts[index];
    if (part === undefined) return undefined;
    const [, name, isGreedy] = /^\{([^+}]+)(\+?)\}$/.exec(expected) ?? [];
    if (name === undefined ? decoded(part) !== expected : part === '' && !isGreedy) return undefined;
    if (name !== undefined) parameters[name] = isGreedy ? parts.slice(index).join('/').replace(/\/$/, '') : part;
    if (isGreedy) return parameters;
  }
  return pattern.length === parts.length ? parameters : undefined;
}

/** Sorts before those of resources that are tried later: a literal part goes before `{part}`, and that before `{rest+}`. */
function rankOf(parts: readonly string[]): string {
  return parts.map((part) => (part.endsWith('+}') ? 2 : Number(part.startsWith('{')))).join('');
}

/** Slashes before the first part count as one. */
function partsOf(path: string): string[] {
  const inner = path.replace(/^\/+/, '');
  return inner === '' ? [] : inner.split('/');
}

/** A part of a path, decoded; as it is where it is malformed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
