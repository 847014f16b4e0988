/** Control characters, line and column separators, and bidirectional overrides. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Escapes invisible characters of untrusted text, such as a name, as JSON does: `\u001b`. */
export const visible = (text: string): string =>
  text.replaceAll(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Like {@link visible}, but keeps line breaks. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');
