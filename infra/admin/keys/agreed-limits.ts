import { type Limits, type PlanId, plans } from '../../../shared/keys/plans.ts';
import { type StageName, stages } from '../../stages.ts';
import { AdminError } from '../admin-error.ts';

/**
 * The agreed limits, which Enterprise demands and every other plan refuses.
 *
 * @param stage where the key is to be, on AWS: its account lets through so much, whatever was agreed
 * @throws AdminError
 */
export function agreedLimits(
  plan: PlanId,
  { perMinute, perDay }: Partial<Limits>,
  stage?: StageName,
): Limits | undefined {
  if (plans[plan].limits !== 'agreed') {
    if (perMinute === undefined && perDay === undefined) return undefined;
    throw new AdminError(`The plan ${plan} has fixed limits. Leave out --per-minute and --per-day.`);
  }
  if (perMinute === undefined || perDay === undefined) throw limitsMissing();
  const most = stage && stages[stage].mostForEnterprise;
  if (most && (perMinute > most.perMinute || perDay > most.perDay))
    throw new AdminError(
      `${stage} agrees to ${most.perMinute} a minute and ${most.perDay} a day at most. More is a matter of infra/stages.ts.`,
    );
  return { perMinute, perDay };
}

/** The limits of a key on a plan: the catalogue's, or the agreed ones. @throws AdminError where those are missing */
export function limitsOn(plan: PlanId, agreed: Limits | undefined): Limits {
  const catalogued = plans[plan].limits;
  if (catalogued !== 'agreed') return catalogued;
  if (!agreed) throw limitsMissing();
  return agreed;
}

const limitsMissing = (): AdminError =>
  new AdminError('The Enterprise plan needs its agreed limits: --per-minute N --per-day N.');
