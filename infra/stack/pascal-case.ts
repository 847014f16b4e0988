/** The id of a construct, from a name in camel or kebab case: `ApiErrors` from `api-errors`. */
export const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
