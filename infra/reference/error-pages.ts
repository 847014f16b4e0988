import { type ErrorAdvice, errorGuide, type Retry } from '../../shared/contract/error-guide.ts';
import { type ErrorCode, type ErrorDefinition, errorCatalogue } from '../../shared/contract/errors.ts';
import { challenges } from '../../shared/http/authorizer-answer.ts';
import { limitHeaders } from '../../shared/http/authorizer-context.ts';

/** Markdown pages by their file names. */
export type Pages = Readonly<Record<string, string>>;

const retryRules = {
  never: 'No. The same request fails again until something about it, the key or the store is changed.',
  after:
    'Yes, once as many seconds have passed as the `Retry-After` header says. If it fails again, wait twice as long.',
  backoff:
    'Yes, with exponential backoff and some randomness: after about 1 second, then 2, 4, 8 and so on, and not for ever.',
} as const satisfies Record<Retry, string>;

interface GuidedError extends ErrorDefinition, ErrorAdvice {
  readonly code: ErrorCode;
}

/** The catalogue with what the guide says. */
export const guidedErrors: readonly GuidedError[] = Object.keys(errorCatalogue)
  .filter((code): code is ErrorCode => code in errorCatalogue)
  .map((code) => Object.assign({ code }, errorCatalogue[code], errorGuide[code]));

/** A page per error code, and an index of them, from the catalogue. */
export function errorPages(): Pages {
  const pages = guidedErrors.map((error) => [`${error.code}.md`, errorPage(error)]);
  return Object.fromEntries([['README.md', indexPage()], ...pages]);
}

/** Text in Markdown: `<API_KEY>` would be taken for a tag. */
export const prose = (text: string): string => text.replaceAll('<', '\\<');

const linkTo = (code: string): string => `[\`${code}\`](${code}.md)`;

function errorPage(error: GuidedError): string {
  const { code, status, message, cause, remedy, retry } = error;
  const related = guidedErrors.filter((other) => other.status === status && other.code !== code);
  return `# ${status} ${code}

${prose(message)}

## When

${prose(cause)}

## What to do

${prose(remedy)}

## Send it again?

${retryRules[retry]}

## What it looks like

\`\`\`http
HTTP/1.1 ${status}
Content-Type: application/json
${exampleHeaders(error)}

${JSON.stringify({ code, message, status })}
\`\`\`

Go by \`code\`: the message may say more about the single case, and its words may change.

${related.length > 0 ? `Other errors with status ${status}: ${related.map((other) => linkTo(other.code)).join(', ')}. ` : ''}[All errors](README.md)
`;
}

function exampleHeaders({ code, status, retry }: GuidedError): string {
  const limits = Object.keys(limitHeaders).map((name) => `${name}: …`);
  const extra = [
    ...(retry === 'after' ? ['Retry-After: 17'] : []),
    ...(status === 401 ? [`WWW-Authenticate: ${challengeOf(code)}`] : []),
    ...(status === 405 ? ['Allow: GET, HEAD, OPTIONS'] : []),
  ];
  return [...limits, ...extra].join('\n');
}

const challengeOf = (code: ErrorCode): string => challenges[code === 'API_KEY_MISSING' ? code : 'API_KEY_INVALID'];

function indexPage(): string {
  const rows = guidedErrors.map(
    ({ code, status, message, retry }) => `| ${status} | ${linkTo(code)} | ${prose(message)} | ${retryWord[retry]} |`,
  );
  return `# Errors

Every error answer is \`{"code": …, "message": …, "status": …}\` with the limit headers. \`code\` is one of these:

| status | code | means | send again? |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

const retryWord = { never: 'no', after: 'after `Retry-After`', backoff: 'with backoff' } as const satisfies Record<
  Retry,
  string
>;
