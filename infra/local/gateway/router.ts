/** A resource of a REST API, in the tree of path parts. */
interface Node<Target> {
  readonly children: Map<string, Node<Target>>;
  /** Child for `{name}`. */
  parameter?: { readonly name: string; readonly node: Node<Target> };
  /** Child for `{name+}`. */
  greedy?: { readonly name: string; readonly node: Node<Target> };
  resourcePath: string;
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
  readonly #root: Node<Target> = newNode('/');

  /** @param resourcePath such as `/inventory/{petId}` or `/{path+}` @param method an HTTP method, or `ANY` */
  add(resourcePath: string, method: string, target: Target): void {
    let node = this.#root;
    let path = '';
    for (const part of partsOf(resourcePath)) {
      path += `/${part}`;
      node = child(node, part, path);
    }
    node.methods.set(method, target);
  }

  /** Undefined where no resource takes the path, or the resource that does has no such method. */
  match(method: string, path: string): Match<Target> | undefined {
    const found = find(this.#root, partsOf(path), {});
    const target = found?.node.methods.get(method) ?? found?.node.methods.get('ANY');
    if (!found || target === undefined) return undefined;
    return { target, resourcePath: found.node.resourcePath, pathParameters: found.pathParameters };
  }
}

interface Found<Target> {
  readonly node: Node<Target>;
  readonly pathParameters: Readonly<Record<string, string>>;
}

function newNode<Target>(resourcePath: string): Node<Target> {
  return { children: new Map(), methods: new Map(), resourcePath };
}

function child<Target>(node: Node<Target>, part: string, path: string): Node<Target> {
  const [, name, plus] = /^\{([^+}]+)(\+?)\}$/.exec(part) ?? [];
  if (name === undefined) {
    const next = node.children.get(part) ?? newNode<Target>(path);
    node.children.set(part, next);
    return next;
  }
  if (plus) return (node.greedy ??= { name, node: newNode(path) }).node;
  return (node.parameter ??= { name, node: newNode(path) }).node;
}

function find<Target>(
  node: Node<Target>,
  parts: readonly string[],
  pathParameters: Readonly<Record<string, string>>,
): Found<Target> | undefined {
  const [part, ...rest] = parts;
  if (part === undefined) return node.methods.size > 0 ? { node, pathParameters } : undefined;

  const literal = node.children.get(decoded(part));
  const { parameter, greedy } = node;
  return (
    (literal && find(literal, rest, pathParameters)) ??
    (parameter && part !== ''
      ? find(parameter.node, rest, { ...pathParameters, [parameter.name]: part })
      : undefined) ??
    (greedy && { node: greedy.node, pathParameters: { ...pathParameters, [greedy.name]: parts.join('/') } })
  );
}

function partsOf(path: string): string[] {
  const parts = path.split('/').slice(1);
  return parts.length === 1 && parts[0] === '' ? [] : parts;
}

/** A part of a path, decoded; as it is where it is malformed. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
