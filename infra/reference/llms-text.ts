import { operations } from '../../shared/contract/operations.ts';
import { PAGES } from './guide.ts';

/** What is where, for language models (https://llmstxt.org). */
export function llmsText(serverUrl: string): string {
  const rows = Object.values(operations).map(({ method, path, purpose }) => `- ${purpose}: \`${method} ${path}\``);
  return `# Pet Store Inventory Service

> Stock levels of a pet store behind a JSON API: list the stock of every pet, set the stock of one, read pets and orders.

The base address is ${serverUrl}. Every request carries an API key: \`Authorization: Bearer <API_KEY>\`.

${rows.join('\n')}

## Documents

- [OpenAPI document](/openapi.yaml): every operation, and in \`info.description\` the guide: keys, limits, lists, safe updates. The same [as JSON](/openapi.json).
- [Errors](${PAGES['errors.md']}): every error code, when it comes and what to do about it.
- [TypeScript client](${PAGES['../shared/client/README.md']}): how a program in TypeScript or JavaScript calls the service.
`;
}
