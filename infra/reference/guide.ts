import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StageSettings } from '../stages.ts';

interface GuideOptions extends Pick<StageSettings, 'petDeprecation'> {
  /** Base address of the service, without a slash at its end. */
  readonly serverUrl: string;
  readonly exampleKey: string;
}

const file = join(import.meta.dirname, '../../docs/guide.md');

/** Paths on the reference page of the files that the guide links to, by their path from the guide. */
export const PAGES = { 'errors.md': '/errors.html', '../shared/client/README.md': '/typescript-client.html' } as const;

/** A link to a file next to the guide, or within it: its text, path and anchor. */
const FILE_LINK = /\[([^\][]+)\]\((?!https?:)([^()#]*)(?:#([^()]*))?\)/g;

/** `docs/guide.md` as the introduction of the reference, with links that lead to the pages next to it. */
export function guide({ serverUrl, exampleKey, petDeprecation }: GuideOptions): string {
  return readFileSync(file, 'utf8')
    .replace(/^# .*\n+/, '')
    .replaceAll(FILE_LINK, (_, text: string, path: string, anchor = '') => pageLink(text, path, anchor))
    .replaceAll('http://localhost:3000/v1', () => serverUrl)
    .replaceAll("Bearer <API_KEY>'", () => `Bearer ${exampleKey}'`)
    .replace('is deprecated.', () => `is ${deprecationText(petDeprecation)}.`)
    .trimEnd();
}

/** @throws Error for a file that the page does not serve */
function pageLink(text: string, path: string, anchor: string): string {
  if (path === '') return `[${text}](#description/${anchor})`;
  const [, page] = Object.entries(PAGES).find(([name]) => name === path) ?? [];
  if (page === undefined) throw new Error(`The reference page does not serve ${path}, which the guide links to`);
  return `[${text}](${page}${anchor && `#${anchor.toUpperCase()}`})`;
}

const date = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

/** When `GET /pets/{petId}` was deprecated and may be removed, as text. */
export function deprecationText({ deprecatedAt, sunsetAt }: StageSettings['petDeprecation']): string {
  const [since, until] = [deprecatedAt, sunsetAt].map((time) => date.format(new Date(time)));
  return `deprecated since ${since}, and may be removed from ${until}`;
}
