import { isIP } from 'node:net';
import { type ExactLimits, MAX_PER_MINUTE, planIds, plans } from '../../shared/keys/plans.ts';
import type { StageSettings } from '../stages.ts';

/**
 * Limits are per UTC minute. The firewall's five minutes are at any time, such as 12:00:30 to 12:05:30, and so overlap
 * six UTC minutes, each with a full limit.
 */
const MINUTES_TOUCHED = 6;

/** Whether a text is an address and the bits of its network, which the firewall requires to be at least 1. */
function isRange(text: string): boolean {
  const [address = '', bits = '', ...others] = text.split('/');
  const maxBits = { 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return /^[1-9]\d*$/.test(bits) && Number(bits) <= maxBits && others.length === 0;
}

/** Max requests of one customer in five minutes, by plan or by the stage's agreed limits. */
export function maxPerCustomer(maxEnterpriseLimits: ExactLimits): number {
  const limits = planIds.map((id) => plans[id].limits).filter((one) => one !== 'agreed');
  return MINUTES_TOUCHED * Math.max(...[...limits, maxEnterpriseLimits].map(({ perMinute }) => perMinute));
}

/**
 * Rejects contradictory settings before a deployment.
 *
 * @throws Error that names the invalid setting
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
      `maxEnterpriseLimits.perMinute must be at most ${MAX_PER_MINUTE}, the maximum of a key`,
    ],
    [
      throttle.requestsPerSecond < perSecond,
      `throttle.requestsPerSecond must be at least ${perSecond}, the limit of an Enterprise customer`,
    ],
    [
      (firewall?.requestsPerAddress ?? perAddress) < perAddress,
      `firewall.requestsPerAddress must be at least ${perAddress}, the limit of one customer`,
    ],
    ...(firewall?.blockedAddresses ?? []).map(
      (range) => [!isRange(range), `firewall.blockedAddresses has ${range}, which is no CIDR range`] as const,
    ),
    [
      alarms && recipients.some(({ emails, topicArns }) => emails.length + topicArns.length === 0),
      "alarmTargets has no recipient: add an e-mail address or a topic, or set 'nobody'",
    ],
    [alarms && !gatewayLogs, 'alarms: true requires gatewayLogs: true, or gateway-refusals can never fire'],
    [rollout === 'canary' && !alarms, "rollout: 'canary' needs alarms: true, or no alarm can roll a release back"],
    ...Object.entries(petDeprecation).map(
      ([name, time]) => [Number.isNaN(Date.parse(time)), `petDeprecation.${name} must be a time in ISO 8601`] as const,
    ),
  ];
  for (const [isWrong, what] of refusals) if (isWrong) throw new Error(`The stage ${settings.name}: ${what}`);
}
