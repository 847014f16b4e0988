import { randomUUID } from 'node:crypto';
import { account } from '../template/account.ts';
import { type EventPattern, matchesPattern } from './event-pattern.ts';
import { Schedule } from './schedule.ts';

/** What a publisher says of an event. */
export interface BusEvent {
  readonly source: string;
  readonly detailType: string;
  readonly resources?: readonly string[];
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Takes the events that a rule lets through, as JSON text. */
export interface EventTarget {
  deliver(event: string): void;
}

export interface Rule {
  readonly arn: string;
  readonly pattern: EventPattern | undefined;
  /** Milliseconds between the events that the rule makes by itself; undefined: it makes none. */
  readonly periodMs: number | undefined;
  readonly targets: readonly EventTarget[];
}

/** EventBridge's default event bus: hands events to the targets of the rules that they match. */
export class EventBus {
  readonly #rules: readonly Rule[];
  readonly #schedules: readonly Schedule[];

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    this.#schedules = rules.flatMap((rule) =>
      rule.periodMs === undefined ? [] : new Schedule(rule.periodMs, () => fire(rule)),
    );
  }

  publish(published: BusEvent): void {
    const event = envelope(published);
    for (const { pattern, targets } of this.#rules) {
      if (pattern && matchesPattern(pattern, event)) deliver(event, targets);
    }
  }

  startSchedules(): void {
    for (const schedule of this.#schedules) schedule.start();
  }

  close(): void {
    for (const schedule of this.#schedules) schedule.stop();
  }
}

function fire({ arn, targets }: Rule): void {
  deliver(envelope({ source: 'aws.events', detailType: 'Scheduled Event', resources: [arn], detail: {} }), targets);
}

function deliver(event: object, targets: readonly EventTarget[]): void {
  const text = JSON.stringify(event);
  for (const target of targets) target.deliver(text);
}

/** The event as EventBridge sends it (user guide, "event structure"). */
function envelope({ source, detailType, resources = [], detail }: BusEvent): object {
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': detailType,
    source,
    account: account.id,
    time: `${new Date().toISOString().slice(0, 19)}Z`,
    region: account.region,
    resources,
    detail,
  };
}
