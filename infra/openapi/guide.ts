import { markdownTable } from 'markdown-table';
import { MAX_LIMIT } from '../../shared/contract/list-query.ts';
import { API_VERSION, operations } from '../../shared/contract/operations.ts';
import { STABILITY_HEADER } from '../../shared/http/stability.ts';
import { type PlanId, planIds, plans } from '../../shared/keys/plans.ts';
import { SUSPENSION_MS } from '../../shared/keys/suspension.ts';
import { guidedErrors, prose } from '../docs/error-pages.ts';
import type { StageSettings } from '../stages.ts';
import { errorExamples, exampleTexts, EXAMPLE_PET_ID } from './examples.ts';
import { deprecationText } from './deprecation-text.ts';
import { headers } from './headers.ts';

export interface GuideOptions {
  /** Base address of the service, without a slash at its end. */
  readonly serverUrl: string;
  /** The API key in the examples. */
  readonly exampleKey: string;
  readonly petDeprecation: StageSettings['petDeprecation'];
}

const number = new Intl.NumberFormat('en');

/** The guide for new API users, in Markdown: the introduction of the reference. */
export function guide(options: GuideOptions): string {
  return [
    'How many of each pet does the store have? List its stock, set the stock of one pet, look at its pets and orders.',
    firstRequest(options),
    keysAndPlans(),
    limits(),
    errors(),
    lists(options),
    safeUpdates(options),
    versions(),
    deprecations(options),
  ].join('\n\n');
}

function firstRequest({ serverUrl, exampleKey }: GuideOptions): string {
  return `## First request

\`\`\`sh
curl -H 'Authorization: Bearer ${exampleKey}' ${serverUrl}/inventory
\`\`\`

\`\`\`json
${exampleTexts.listInventory}
\`\`\`

And set the stock of a pet:

\`\`\`sh
curl -X PATCH ${serverUrl}/inventory/${EXAMPLE_PET_ID} \\
  -H 'Authorization: Bearer ${exampleKey}' \\
  -H 'Content-Type: application/json' \\
  -d '${exampleTexts.inventoryUpdate}'
\`\`\`

Requests and answers are JSON. Ids are 64-bit integers: read them with a parser that keeps all their digits, as
JavaScript's own \`JSON.parse\` does not.`;
}

function keysAndPlans(): string {
  const rows = planIds.map(planRow);
  return `## Keys and plans

Every request carries an API key: \`Authorization: Bearer <API_KEY>\`. The admin of the store issues keys, rotates them and
ends them. A key is shown once, when it is issued; keep it where you keep passwords, never in a page or an app that others can
look into. Without a valid key the answer is 401.

A key is on a plan, which sets how many requests it may make:

${markdownTable([['plan', 'a minute', 'a day'], ...rows], { align: ['l', 'r', 'r'] })}

For more, move to a higher plan; the quotas of Enterprise are agreed with each customer.`;
}

function planRow(id: PlanId): string[] {
  const { title, limits: agreed } = plans[id];
  if (agreed === 'agreed') return [title, 'as agreed', 'as agreed'];
  return [title, number.format(agreed.perMinute), number.format(agreed.perDay)];
}

function limits(): string {
  const names = [
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'RateLimit-Policy',
    'RateLimit',
  ] as const;
  const rows = names.map((name) => [`\`${name}\``, headers[name].description ?? '', `\`${headers[name].example}\``]);
  return `## Limits

A minute and a day are those of the clock, in UTC. Every answer says what is left:

${markdownTable([['header', 'says', 'such as'], ...rows])}

An admitted request counts once, whatever comes of it; a refused one does not count. Over a limit the answer is 429, with the
seconds to wait in \`Retry-After\`:

1. Stop sending with this key until they have passed.
2. Try once. Refused again, wait \`Retry-After\`, or twice as long as before, whichever is longer, plus a random part.
3. Give up after some tries, and say so, rather than go on for ever.

A key that is refused as often within one minute as it may make requests in it is suspended for ${SUSPENSION_MS / 60_000} minutes.`;
}

function errors(): string {
  const retry = { never: 'no', after: 'after `Retry-After`', backoff: 'with backoff' } as const;
  const rows = guidedErrors.map((error) => [
    String(error.status),
    `\`${error.code}\``,
    prose(error.message),
    retry[error.retry],
  ]);
  return `## Errors

Every error has one shape:

\`\`\`json
${JSON.stringify(errorExamples['PET_NOT_FOUND']?.value)}
\`\`\`

Go by \`code\`: the message may say more about the single case, and its words may change. When you report a problem, name the
\`x-amzn-RequestId\` of the answer.

${markdownTable([['status', 'code', 'means', 'send again?'], ...rows])}

"With backoff" means: after about 1 second, then 2, 4, 8 and so on, with some randomness, and not for ever.`;
}

function lists({ serverUrl, exampleKey }: GuideOptions): string {
  return `## Lists

Without parameters a list is the whole list, in ascending id. It is streamed: however long it is, its first entries come at once.
With \`Accept-Encoding: gzip\` it comes compressed. A list that breaks off lacks its closing bracket, so no JSON parser takes it for
the whole: ask again.

With \`limit\` (1 to ${number.format(MAX_LIMIT)}) it is a page, and the \`Link\` header has the address of the next one:

\`\`\`sh
curl -i -H 'Authorization: Bearer ${exampleKey}' '${serverUrl}/inventory?limit=2&status=available'
\`\`\`

\`\`\`http
Link: ${headers.NextPage.example}
\`\`\`

Follow it until there is none. Pages never repeat an entry nor skip one that was there all the time, whatever is written meanwhile.
\`status\` picks the entries with one status: such a page may hold fewer entries than \`limit\`, or none, and still have a \`Link\`
that leads on.`;
}

function safeUpdates({ serverUrl, exampleKey }: GuideOptions): string {
  return `## Safe updates

**Nobody overwrites anybody.** An update answers with the \`ETag\` of the entry's new version. Send it with your next update as
\`If-Match\`: if somebody else has changed the entry since, the answer is 412 with the \`ETag\` that it has now, and nothing is done.

**Nothing is done twice.** Send an \`Idempotency-Key\` of your own with each update. If the answer gets lost, send the very same
request again: once it is done, you get the same answer for 24 hours. The key with another request is 422. A 503 says so where
nobody can tell whether the update was done: without a key, read the entry before you send it again.

\`\`\`sh
curl -i -X PATCH ${serverUrl}/inventory/${EXAMPLE_PET_ID} \\
  -H 'Authorization: Bearer ${exampleKey}' \\
  -H 'Content-Type: application/json' \\
  -H 'If-Match: ${headers.ETag.example}' \\
  -H 'Idempotency-Key: "8e03978e-40d5-43dd-bc93-6894a57f9324"' \\
  -d '${exampleTexts.inventoryUpdate}'
\`\`\``;
}

function versions(): string {
  const marked = Object.values(operations).filter(({ stability }) => stability !== 'stable');
  const list = marked.map(({ method, path, stability }) => `- \`${method} ${path}\`: ${stability}`).join('\n');
  return `## Versions and stability

This is version ${API_VERSION}; its first number is in the base address. Fields and headers may be added, so ignore those that you do
not know. Operations with a mark can still change in other ways, and say so in the header \`${STABILITY_HEADER}\`:

${list}`;
}

function deprecations({ petDeprecation }: GuideOptions): string {
  const { method, path } = operations.getPet;
  return `## Deprecations

A deprecated operation still works, but will go. Its answers say since when it is deprecated (\`Deprecation\`, in Unix seconds after an
\`@\`) and from when on it may be gone (\`Sunset\`). Do not begin to use it, and move off it in time:

\`${method} ${path}\` is ${deprecationText(petDeprecation)}.`;
}
