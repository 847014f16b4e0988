/** The `$context` of one request: what gateway responses and access logs can substitute. */
export class ContextVariables {
  readonly #values = new Map<string, string>();

  /** @param prefix such as `authorizer`; names come after it with a dot */
  set(values: Readonly<Record<string, unknown>>, prefix = ''): void {
    for (const [name, value] of Object.entries(values)) {
      const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      if (isScalar) this.#values.set(prefix === '' ? name : `${prefix}.${name}`, String(value));
    }
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Replaces each `$context.name` in a template. There is no more to gateway responses: they run no VTL. */
  substitute(template: string, missing: string): string {
    return template.replaceAll(/\$context\.([A-Za-z]\w*(?:\.\w+)*)/g, (_, name: string) => this.get(name) ?? missing);
  }
}
