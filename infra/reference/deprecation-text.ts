import type { StageSettings } from '../stages.ts';

const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** When `GET /pets/{petId}` was deprecated and may go, for people. */
export function deprecationText({ deprecatedAt, sunsetAt }: StageSettings['petDeprecation']): string {
  const [since, until] = [deprecatedAt, sunsetAt].map((time) => date.format(new Date(time)));
  return `deprecated since ${since}, and may be gone from ${until} on`;
}
