import { type ErrorAdvice, errorGuide, type Retry } from '../../shared/contract/error-guide.ts';
import { type ErrorCode, type ErrorDefinition, errorCatalogue } from '../../shared/contract/errors.ts';
import { challenges } from '../../shared/http/authorizer-answer.ts';
import { limitHeaders } from '../../shared/http/authorizer-context.ts';

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

/** Text in Markdown: `<API_KEY>` would be taken for a tag. */
export const prose = (text: string): string => text.replaceAll('<', '\\<');

/** The anchor that GitHub gives the section of a code. */
const anchorOnGitHub = (code: ErrorCode): string => code.toLowerCase();

/**
 * The page of errors, in Markdown: a table of all error codes, and a section for each.
 *
 * @param anchorOf the anchor of a section; by default as in `docs/errors.md`
 */
export function errorPage(anchorOf = anchorOnGitHub): string {
  const rows = guidedErrors.map(
    ({ code, status, message, retry }) =>
      `| ${status} | [\`${code}\`](#${anchorOf(code)}) | ${prose(message)} | ${retryWord[retry]} |`,
  );
  return `# Errors

Every error answer has one shape. \`code\` is one of those below:

\`\`\`http
HTTP/1.1 404
Content-Type: application/json
${Object.keys(limitHeaders)
  .map((name) => `${name}: …`)
  .join('\n')}
Link: <…/errors#PET_NOT_FOUND>; rel="help"

{"code":"PET_NOT_FOUND","message":"There is no such pet.","status":404}
\`\`\`

Go by \`code\`: the message may say more about the single case, and its words may change. \`Link\` leads to this page, where
it is served.

| status | code | means | send again? |
| --- | --- | --- | --- |
${rows.join('\n')}

${guidedErrors.map((error) => section(error)).join('\n')}`;
}

const retryWord = { never: 'no', after: 'after `Retry-After`', backoff: 'with backoff' } as const satisfies Record<
  Retry,
  string
>;

function section(error: GuidedError): string {
  const { code, status, message, cause, remedy, retry } = error;
  const header = ownHeader(error);
  return `## ${code}

**${status}** ${prose(message)}

- **When**: ${prose(cause)}
- **What to do**: ${prose(remedy)}
- **Send it again?** ${retryRules[retry]}
${header === undefined ? '' : `- **Header**: \`${header}\`\n`}`;
}

/** The header that answers with the error have beside the limit headers, with an example of its value. */
function ownHeader({ code, status, retry }: GuidedError): string | undefined {
  if (retry === 'after') return 'Retry-After: 17';
  if (status === 401) return `WWW-Authenticate: ${challenges[code === 'API_KEY_MISSING' ? code : 'API_KEY_INVALID']}`;
  return status === 405 ? 'Allow: GET, HEAD, OPTIONS' : undefined;
}
