import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StageSettings } from '../stages.ts';
import { deprecationText } from './deprecation-text.ts';

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
