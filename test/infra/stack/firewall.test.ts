import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { type FirewallSettings, type StageSettings, stages } from '../../../infra/stages.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { synthesizeApps } from '../../support/synthesize-once.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const apps: Record<string, Partial<StageSettings>> = {};
let refusals: Readonly<Record<string, string>>;

function stage(what: string, perMinute: number, firewall: Partial<FirewallSettings> = {}): string {
  apps[what] = {
    mostForEnterprise: { perMinute, perDay: 1_440 * perMinute },
    firewall: { requestsWithoutKey: 2_000, ...firewall },
  };
  return what;
}

const cases: [what: string, requestsPerAddress: number][] = [
  [stage('no customer above Business', 60), 2 * 6 * plans.business.limits.perMinute],
  [stage('an Enterprise customer above it', 5_000), 2 * 6 * 5_000],
  [stage('a bound of its own', 5_000, { requestsPerAddress: 30_000 }), 30_000],
];
const tooLow = stage('a bound below what one customer may send', 5_000, { requestsPerAddress: 29_999 });

beforeAll(() => {
  const all = Object.entries(apps).map(([what, settings]) => [what, [{ ...stages.staging, ...settings }]] as const);
  refusals = synthesizeApps(folder, Object.fromEntries(all));
}, 60_000);

const aclSchema = v.object({
  Type: v.literal('AWS::WAFv2::WebACL'),
  Properties: v.object({ Rules: v.array(v.looseObject({ Name: v.string() })) }),
});

test.each(cases)(
  'The firewall takes from one address what two of the largest customers may send: %s',
  (what, limit) => {
    const { template } = readAssembly(path.join(folder, what));
    const { Resources } = v.parse(v.object({ Resources: v.record(v.string(), v.unknown()) }), template);
    const acl = Object.values(Resources).find((one) => v.is(aclSchema, one));

    expect(acl?.Properties.Rules[0]).toMatchObject({
      Name: 'RequestsPerAddress',
      Statement: { RateBasedStatement: { EvaluationWindowSec: 300, Limit: limit } },
    });
  },
);

test('It cannot be set to refuse what the limits of one customer admit', () => {
  expect(refusals[tooLow]).toContain('firewall.requestsPerAddress must be 30000 at least');
});
