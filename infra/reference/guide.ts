import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StageSettings } from '../stages.ts';

export interface GuideOptions {
  /** Base address of the service, without a slash at its end. */
  readonly serverUrl: string;
  /** The API key in the examples. */
  readonly exampleKey: string;
  readonly petDeprecation: StageSettings['petDeprecation'];
}

const file = join(import.meta.dirname, '../../docs/guide.md');

/**
 * `docs/guide.md` for one service, in Markdown: the introduction of the reference. Its title is the reference's own, and
 * links to other files lead nowhere there.
 */
export function guide({ serverUrl, exampleKey, petDeprecation }: GuideOptions): string {
  return readFileSync(file, 'utf8')
    .replace(/^# .*\n+/, '')
    .replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1')
    .replaceAll('http://localhost:3000/v1', () => serverUrl)
    .replaceAll("Bearer <API_KEY>'", () => `Bearer ${exampleKey}'`)
    .replace('is deprecated.', () => `is ${deprecationText(petDeprecation)}.`)
    .trimEnd();
}

const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** When `GET /pets/{petId}` was deprecated and may go, for people. */
export function deprecationText({ deprecatedAt, sunsetAt }: StageSettings['petDeprecation']): string {
  const [since, until] = [deprecatedAt, sunsetAt].map((time) => date.format(new Date(time)));
  return `deprecated since ${since}, and may be gone from ${until} on`;
}
