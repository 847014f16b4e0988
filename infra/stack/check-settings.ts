import { isIPv4 } from 'node:net';
import { MAX_PER_MINUTE } from '../../shared/keys/plans.ts';
import type { StageSettings } from '../stages.ts';
import { maxPerCustomer } from './firewall.ts';

/** Whether a text is an IPv4 address and the bits of its network, which the firewall requires to be at least 1. */
function isRange(text: string): boolean {
  const [address = '', bits = '', ...others] = text.split('/');
  return isIPv4(address) && /^[1-9]\d*$/.test(bits) && Number(bits) <= 32 && others.length === 0;
}

/** @throws Error that names a setting which contradicts another */
export function checkSettings(settings: StageSettings): void {
  const { alarms, gatewayLogs, alarmTargets, rollout, throttle, maxEnterpriseLimits, firewall, petDeprecation } =
    settings;
  const perSecond = Math.ceil(maxEnterpriseLimits.perMinute / 60);
  const perAddress = maxPerCustomer(maxEnterpriseLimits);
  const recipients = typeof alarmTargets === 'object' ? [alarmTargets, alarmTargets.tickets ?? alarmTargets] : [];
  const refusals: Record<string, boolean> = {
    [`maxEnterpriseLimits.perMinute must be at most ${MAX_PER_MINUTE}, the maximum of a key`]:
      maxEnterpriseLimits.perMinute > MAX_PER_MINUTE,
    [`throttle.requestsPerSecond must be at least ${perSecond}, the limit of an Enterprise customer`]:
      throttle.requestsPerSecond < perSecond,
    [`firewall.requestsPerAddress must be at least ${perAddress}, the limit of one customer`]:
      (firewall?.requestsPerAddress ?? perAddress) < perAddress,
    "alarmTargets has no recipient: add an e-mail address or a topic, or set 'nobody'":
      alarms && recipients.some(({ emails, topicArns }) => emails.length + topicArns.length === 0),
    'alarms: true requires gatewayLogs: true, or gateway-refusals can never fire': alarms && !gatewayLogs,
    "rollout: 'canary' needs alarms: true, or no alarm can roll a release back": rollout === 'canary' && !alarms,
  };
  for (const range of firewall?.blockedAddresses ?? []) {
    refusals[`firewall.blockedAddresses has ${range}, but the API has IPv4 addresses only`] = range.includes(':');
    refusals[`firewall.blockedAddresses has ${range}, which is no CIDR range`] = !isRange(range);
  }
  for (const [name, time] of Object.entries(petDeprecation))
    refusals[`petDeprecation.${name} must be a time in ISO 8601`] = Number.isNaN(Date.parse(time));
  for (const [what, isWrong] of Object.entries(refusals))
    if (isWrong) throw new Error(`The stage ${settings.name}: ${what}`);
}
