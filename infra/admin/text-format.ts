import type { Limits } from '../../shared/keys/plans.ts';

/** What a terminal acts on, what ends a line or a column, and what turns the direction of text. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Text of others, such as a name, with what cannot be seen in it as JSON writes it: `\u001b`. */
export const visible = (text: string): string =>
  text.replaceAll(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The same of text that has several lines. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');

/**
 * Commands in a message, with the option that names the service they are about. Messages are written as if for the host
 * that needs none.
 */
export const withTarget = (text: string, targetOption: string): string =>
  targetOption === '' ? text : text.replaceAll('npm run admin -- ', `npm run admin -- ${targetOption} `);

/** `1,000`. */
export const formatNumber = (value: number): string => value.toLocaleString('en');

/** `1 key`, `1,000 keys`. */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : several}`;

/** `60 requests a minute, 1,000 a day`. */
export const limitsText = ({ perMinute, perDay }: Limits): string =>
  `${formatNumber(perMinute)} requests a minute, ${formatNumber(perDay)} a day`;

/** `2026-11-21 12:30 UTC`. */
export const formatTime = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

export const timeOrNever = (iso: string | null): string => (iso === null ? 'never' : formatTime(iso));
