import { type Limits, MAX_PER_MINUTE, planIds, plans } from '../../shared/keys/plans.ts';
import type { StageSettings } from '../stages.ts';

/** Clock minutes that five minutes touch. */
const MINUTES_TOUCHED = 6;

/** The most that one customer may send in five minutes, on a plan or as the stage agrees. */
export function maxPerCustomer(maxEnterpriseLimits: Limits): number {
  const limits = planIds.map((id) => plans[id].limits).filter((one) => one !== 'agreed');
  return MINUTES_TOUCHED * Math.max(...[...limits, maxEnterpriseLimits].map(({ perMinute }) => perMinute));
}

/**
 * Refuses settings that contradict each other, before anything is deployed.
 *
 * @throws Error that says which setting has to be otherwise
 */
export function checkSettings(settings: StageSettings): void {
  const { alarms, gatewayLogs, alarmTargets, rollout, throttle, maxEnterpriseLimits, firewall, petDeprecation } =
    settings;
  const perSecond = Math.ceil(maxEnterpriseLimits.perMinute / 60);
  const perAddress = maxPerCustomer(maxEnterpriseLimits);
  const recipients = typeof alarmTargets === 'object' ? [alarmTargets, alarmTargets.tickets ?? alarmTargets] : [];
  const refusals: readonly (readonly [isWrong: boolean, what: string])[] = [
    [
      maxEnterpriseLimits.perMinute > MAX_PER_MINUTE,
      `maxEnterpriseLimits.perMinute must be ${MAX_PER_MINUTE} at most: one key takes no more`,
    ],
    [
      throttle.requestsPerSecond < perSecond,
      `throttle.requestsPerSecond must be ${perSecond} at least: an Enterprise customer may send as many`,
    ],
    [
      (firewall?.requestsPerAddress ?? perAddress) < perAddress,
      `firewall.requestsPerAddress must be ${perAddress} at least: one customer may send as many`,
    ],
    [
      alarms && recipients.some(({ emails, topicArns }) => emails.length + topicArns.length === 0),
      "alarmTargets names no recipient: add an e-mail address or a topic, or write 'nobody'",
    ],
    [alarms && !gatewayLogs, 'alarms: true needs gatewayLogs: true, or gateway-refusals can never fire'],
    [rollout === 'canary' && !alarms, "rollout: 'canary' needs alarms: true, or no alarm can roll a release back"],
    ...Object.entries(petDeprecation).map(
      ([name, time]) => [Number.isNaN(Date.parse(time)), `petDeprecation.${name} must be a time in ISO 8601`] as const,
    ),
  ];
  for (const [isWrong, what] of refusals) if (isWrong) throw new Error(`The stage ${settings.name}: ${what}`);
}
