import type { ExactLimits } from '../../../shared/keys/plans.ts';
import type { AnyStageName } from '../../stages.ts';
import { visible, visibleLines } from '../../failures.ts';

export { visible, visibleLines };

export function truncated(text: string, maxLength: number): string {
  const safe = visible(text);
  return safe.length > maxLength ? `${safe.slice(0, maxLength)}…` : safe;
}

/** Address of the service: at most one of the two. */
export interface TargetOptions {
  /** Address of a local server; {@link DEFAULT_URL} by default. */
  readonly url?: string | undefined;
  readonly stage?: AnyStageName | undefined;
}

export const DEFAULT_URL = 'http://localhost:3000';

/** The option that selects the service, for commands in messages; empty for the default address. */
export function targetOption({ url, stage }: TargetOptions): string {
  if (stage !== undefined) return `--stage ${stage}`;
  return url === undefined ? '' : `--url ${url}`;
}

/** Adds the option that selects the service to the commands in a message, which are for the default address. */
export const withTarget = (text: string, option: string): string =>
  option === '' ? text : text.replaceAll('npm run admin -- ', `npm run admin -- ${option} `);

export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** `1,000`. */
export const formatNumber = (value: number): string => value.toLocaleString('en');

/** `1 key`, `1,000 keys`. */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : several}`;

/** `3 added, 1,000 changed`. */
export const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${formatNumber(count)} ${what}`)
    .join(', ');

/** `60 requests per minute, 1,000 per day`. */
export const limitsText = ({ perMinute, perDay }: ExactLimits): string =>
  `${formatNumber(perMinute)} requests per minute, ${formatNumber(perDay)} per day`;

/** `2026-11-21 12:30 UTC`. */
export const formatTime = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

export const timeOrNever = (iso: string | null): string => (iso === null ? 'never' : formatTime(iso));
