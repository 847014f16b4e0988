import type { Commit } from './virtual-tables.ts';
import { type Answer, KEPT_MS, STOCK, type AnsweredUpdate, type UpdateHistory } from './update-schedule.ts';

type Updated = Extract<Answer, { kind: 'updated' }>;
type Refused = Extract<Answer, { kind: 'refused' }>;

/** Answers that the store does not bear out; none where all is well. */
export function violationsOfUpdates(history: UpdateHistory): string[] {
  const stored = history.commits.filter(({ table, writer }) => table === STOCK && writer.startsWith('try-'));
  const byRequest = Map.groupBy(history.updates, ({ request }) => request.id);
  return [
    ...history.updates.flatMap((update) => violationsOfAnswer(update, byRequest.get(update.request.id) ?? [], history)),
    ...[...byRequest.values()].flatMap((tries) => violationsOfRequest(tries, stored)),
    ...violationsOfConditions(history.updates, stored),
  ];
}

function violationsOfAnswer(answered: AnsweredUpdate, tries: readonly AnsweredUpdate[], history: UpdateHistory) {
  const { outcome, writer, answeredAt, faults } = answered;
  if (outcome.kind === 'failed') return [by(answered, `failed: ${String(outcome.error)}`)];
  if (outcome.kind === 'updated') {
    const isTrue = isStored(answered, outcome, tries, history.commits);
    return isTrue ? [] : [by(answered, `200 for ${outcome.version}, which was never stored as it was asked`)];
  }
  if (outcome.status === 503) return faults > 0 ? [] : [by(answered, '503 with no fault')];
  // A refused update takes no effect: not by this try, nor by one that was sent before. Only a 404 may be out of date.
  const before = tries.filter((other) => other.invokedAt <= answeredAt).map((other) => other.writer);
  const bound = outcome.status === 404 ? [writer] : before;
  const effect = history.commits.find((commit) => commit.table === STOCK && bound.includes(commit.writer));
  const isTrue = isRefusedRightly(answered, outcome, history);
  return [
    ...(effect ? [by(answered, `${outcome.status}, and stored at ${effect.at}`)] : []),
    ...(isTrue ? [] : [by(answered, `${outcome.status} ${outcome.etag ?? ''} for no reason`)]),
  ];
}

/** Whether a 200 names what was asked for, and what one of the tries has stored. */
function isStored(
  { request, answeredAt }: AnsweredUpdate,
  { entry, version }: Updated,
  tries: readonly AnsweredUpdate[],
  commits: readonly Commit[],
): boolean {
  const writers = new Set(tries.map(({ writer }) => writer));
  const isAsked = entry.quantity === request.update.quantity && entry.petId === request.update.petId;
  return (
    isAsked &&
    commits.some(
      ({ at, table, writer, after, key }) =>
        table === STOCK &&
        at <= answeredAt &&
        writers.has(writer) &&
        key['petId']?.N === entry.petId &&
        after?.['version']?.S === version &&
        after['quantity']?.N === String(entry.quantity) &&
        after['status']?.S === entry.status,
    )
  );
}

function isRefusedRightly(answered: AnsweredUpdate, { status, etag }: Refused, history: UpdateHistory): boolean {
  const { petId, versions } = answered.request.update;
  if (status === 422) return isReused(answered, history.updates);
  const stored = versionsOf(petId, answered, history.commits);
  if (status === 404) return stored.includes(undefined);
  const isOther = (version = '') => etag === `"${version}"` && versions?.includes(version) === false;
  return status === 412 && stored.some(isOther);
}

/** The versions that a pet had during a request; undefined: it was absent. */
function versionsOf(petId: string, { invokedAt, answeredAt }: AnsweredUpdate, commits: readonly Commit[]) {
  const own = commits.filter(({ table, key }) => table === STOCK && key['petId']?.N === petId);
  const before = own.findLast(({ at }) => at < invokedAt);
  const during = own.filter(({ at }) => at >= invokedAt && at <= answeredAt);
  return [before, ...during].map((commit) => commit?.after?.['version']?.S);
}

const isReused = ({ request, answeredAt }: AnsweredUpdate, all: readonly AnsweredUpdate[]): boolean =>
  all.some(
    (other) =>
      other.request.idempotencyKey === request.idempotencyKey &&
      other.request.id !== request.id &&
      other.invokedAt <= answeredAt &&
      // A late write is kept from then on.
      other.invokedAt > answeredAt - KEPT_MS - 60_000,
  );

/** However often a request is sent, it takes effect once, and is answered the same. */
function violationsOfRequest(tries: readonly AnsweredUpdate[], stored: readonly Commit[]): string[] {
  const [first] = tries;
  if (!first) return [];
  const writers = new Set(tries.map(({ writer }) => writer));
  const effects = stored.filter(({ writer }) => writers.has(writer));
  const answers = new Set(tries.flatMap(({ outcome }) => (outcome.kind === 'updated' ? JSON.stringify(outcome) : [])));
  return [
    ...(effects.length > 1 ? [by(first, `stored at ${effects.map(({ at }) => at).join(' and ')}`)] : []),
    ...(answers.size > 1 ? [by(first, `answered ${[...answers].join(' and ')}`)] : []),
  ];
}

/** An update replaces only what its client asked it to replace, and leaves the status. */
function violationsOfConditions(updates: readonly AnsweredUpdate[], stored: readonly Commit[]): string[] {
  const byWriter = new Map(updates.map((one) => [one.writer, one]));
  return stored.flatMap(({ writer, before, after, at }) => {
    const one = byWriter.get(writer);
    if (!one) return [`${writer} is unknown`];
    const { versions } = one.request.update;
    const isExpected = before !== undefined && (versions?.includes(before['version']?.S ?? '') ?? true);
    const isKept = before?.['status']?.S === after?.['status']?.S;
    return isExpected && isKept ? [] : [by(one, `replaced ${JSON.stringify(before)} at ${at}`)];
  });
}

const by = ({ request, writer, environment, invokedAt, answeredAt }: AnsweredUpdate, what: string): string =>
  `${writer} of request ${request.id} (${request.idempotencyKey ?? 'without a key'}), pet ${request.update.petId}, in environment ${environment} from ${invokedAt} to ${answeredAt}: ${what}`;
