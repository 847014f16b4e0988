import { badRequest } from './control-plane-error.ts';

/** The query parameters of a call. */
export class Query {
  readonly #parameters: URLSearchParams;

  /**
   * @param text without the question mark
   * @param known the parameters that the operation takes
   * @throws ControlPlaneError on any other
   */
  constructor(text: string, known: readonly string[]) {
    this.#parameters = new URLSearchParams(text);
    for (const name of this.#parameters.keys()) {
      if (!known.includes(name)) throw badRequest(`This host does not know the query parameter ${name}`);
    }
  }

  text(name: string): string | undefined {
    return this.#parameters.get(name) ?? undefined;
  }

  texts(name: string): string[] {
    return this.#parameters.getAll(name);
  }

  /** Whether the parameter is `true`. @throws ControlPlaneError where it is neither that nor `false` */
  flag(name: string): boolean {
    const value = this.text(name) ?? 'false';
    if (value !== 'true' && value !== 'false') throw badRequest(`${name} must be true or false, not '${value}'`);
    return value === 'true';
  }
}
