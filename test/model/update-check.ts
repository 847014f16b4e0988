import type { Commit } from './virtual-tables.ts';
import { type Answer, KEPT_MS, STOCK, type ToldAnswer, type UpdateHistory } from './update-schedule.ts';

type Updated = Extract<Answer, { kind: 'updated' }>;
type Refused = Extract<Answer, { kind: 'refused' }>;

/** What clients were told that the store did not go through: nothing, so it is hoped. */
export function violationsOfUpdates(history: UpdateHistory): string[] {
  const stored = history.commits.filter(({ table, writer }) => table === STOCK && writer.startsWith('try-'));
  const byRequest = Map.groupBy(history.told, ({ request }) => request.id);
  return [
    ...history.told.flatMap((told) => violationsOfAnswer(told, byRequest.get(told.request.id) ?? [], history)),
    ...[...byRequest.values()].flatMap((tries) => violationsOfRequest(tries, stored)),
    ...violationsOfConditions(history.told, stored),
  ];
}

function violationsOfAnswer(told: ToldAnswer, tries: readonly ToldAnswer[], history: UpdateHistory): string[] {
  const { outcome } = told;
  if (outcome.kind === 'failed') return [by(told, `failed: ${String(outcome.error)}`)];
  if (outcome.kind === 'updated') return violationsOfSuccess(told, outcome, tries, history.commits);
  if (outcome.status === 503) return told.faults > 0 ? [] : [by(told, '503 with no fault')];
  return violationsOfRefusal(told, outcome, tries, history);
}

/** A 200 names what one of the tries has stored. */
function violationsOfSuccess(
  told: ToldAnswer,
  { entry, version }: Updated,
  tries: readonly ToldAnswer[],
  commits: readonly Commit[],
): string[] {
  const { request, answeredAt } = told;
  const writers = new Set(tries.map(({ writer }) => writer));
  const isStored = commits.some(
    ({ at, table, writer, after, key }) =>
      table === STOCK &&
      at <= answeredAt &&
      writers.has(writer) &&
      key['petId']?.N === entry.petId &&
      after?.['version']?.S === version &&
      after['quantity']?.N === String(entry.quantity) &&
      after['status']?.S === entry.status,
  );
  const isAsked = entry.quantity === request.update.quantity && entry.petId === request.update.petId;
  return isStored && isAsked ? [] : [by(told, `200 for ${version} of ${entry.quantity}, which was never stored`)];
}

/** A refusal has a reason, and the update takes no effect: not by this try, nor by one that was sent before. */
function violationsOfRefusal(
  told: ToldAnswer,
  outcome: Refused,
  tries: readonly ToldAnswer[],
  { told: all, commits }: UpdateHistory,
): string[] {
  const { request, writer, answeredAt } = told;
  const before = tries.filter((other) => other.invokedAt <= answeredAt).map((other) => other.writer);
  // A try that came too late to be told of 404 may store what the pet is put back for.
  const bound = outcome.status === 404 ? [writer] : before;
  const effect = commits.find((commit) => commit.table === STOCK && bound.includes(commit.writer));
  const violations = effect ? [by(told, `${outcome.status}, and stored at ${effect.at}`)] : [];
  const states = statesOf(request.update.petId, told, commits);
  const { versions } = request.update;
  const isTrue =
    outcome.status === 404
      ? states.includes(undefined)
      : outcome.status === 412
        ? states.some(
            (version) =>
              version !== undefined && outcome.etag === `"${version}"` && versions?.includes(version) === false,
          )
        : outcome.status === 422 && isReused(told, all);
  return isTrue ? violations : [...violations, by(told, `${outcome.status} ${outcome.etag ?? ''} for no reason`)];
}

/** The versions that a pet had while a request was at work; undefined: it was absent. */
function statesOf(petId: string, { invokedAt, answeredAt }: ToldAnswer, commits: readonly Commit[]) {
  const own = commits.filter(({ table, key }) => table === STOCK && key['petId']?.N === petId);
  const before = own.findLast(({ at }) => at < invokedAt);
  const during = own.filter(({ at }) => at >= invokedAt && at <= answeredAt);
  return [before, ...during].map((commit) => commit?.after?.['version']?.S);
}

const isReused = ({ request, answeredAt }: ToldAnswer, all: readonly ToldAnswer[]): boolean =>
  all.some(
    (other) =>
      other.request.idempotencyKey === request.idempotencyKey &&
      other.request.id !== request.id &&
      other.invokedAt <= answeredAt &&
      // One that is late, and what it has stored is kept from then on.
      other.invokedAt > answeredAt - KEPT_MS - 60_000,
  );

/** However often a request is sent, it takes effect once, and is answered the same. */
function violationsOfRequest(tries: readonly ToldAnswer[], stored: readonly Commit[]): string[] {
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
function violationsOfConditions(told: readonly ToldAnswer[], stored: readonly Commit[]): string[] {
  const byWriter = new Map(told.map((one) => [one.writer, one]));
  return stored.flatMap(({ writer, before, after, at }) => {
    const one = byWriter.get(writer);
    if (!one) return [`Nobody wrote as ${writer}`];
    const { versions } = one.request.update;
    const isExpected = before !== undefined && (versions?.includes(before['version']?.S ?? '') ?? true);
    const isKept = before?.['status']?.S === after?.['status']?.S;
    return isExpected && isKept ? [] : [by(one, `replaced ${JSON.stringify(before)} at ${at}`)];
  });
}

const by = ({ request, writer, environment, invokedAt, answeredAt }: ToldAnswer, what: string): string =>
  `${writer} of request ${request.id} (${request.idempotencyKey ?? 'without a key'}), pet ${request.update.petId}, in environment ${environment} from ${invokedAt} to ${answeredAt}: ${what}`;
