import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { localDashboard } from '../../infra/dashboard/local-dashboard.ts';
import { readAssembly } from '../../infra/local/assembly.ts';
import { LocalStack } from '../../infra/local/template/stack.ts';
import { stages } from '../../infra/stages.ts';
import { ApiClient } from '../support/api-client.ts';
import { plantFaults } from '../support/function-faults.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { synthesizeStage } from '../support/synthesize-once.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** What CodeDeploy is told to watch while a tenth of the requests goes to a new version. */
const groupSchema = v.object({
  AlarmConfiguration: v.object({ Enabled: v.literal(true), Alarms: v.array(v.object({ Name: v.string() })) }),
  AutoRollbackConfiguration: v.object({ Enabled: v.literal(true), Events: v.array(v.string()) }),
});

const TENTH = 6;

/**
 * A release, rehearsed: a tenth of the requests meets a version that fails, the alarms of the template are evaluated on
 * what the service then logs, and each deployment group is asked whether it takes the release back.
 */
describe('A release, while a tenth of the requests goes to the new version,', () => {
  const assembly = temporaryFolder();
  synthesizeStage(assembly, { ...stages.staging, release: 'canary' });
  plantFaults(assembly, 'FunctionsUpdateInventory', 'x-fault-update');
  plantFaults(assembly, 'FunctionsAuthorizer', 'x-fault-authorizer');
  const { name: stackName, template } = readAssembly(assembly);
  const stack = new LocalStack(stackName, template);
  const groups = stack
    .resources('AWS::CodeDeploy::DeploymentGroup')
    .map(({ properties }) => v.parse(groupSchema, properties));

  let host: LocalHost;
  let api: ApiClient;

  beforeAll(async () => {
    host = await LocalHost.start({ assembly });
    await host.putStock({ petId: 101n, quantity: 1, status: 'available' });
    const { token } = await issueKey(host, { perMinute: 1_000, perDay: 100_000 });
    api = ApiClient.withKey(host.baseUrl, token);
  });

  afterAll(() => host.close());

  /** The requests of a release: nine of ten to the old version. */
  async function send(faultHeader: Record<string, string>): Promise<number[]> {
    const statuses: number[] = [];
    for (let request = 0; request < 10 * TENTH; request++) {
      const headers = { 'Content-Type': 'application/json', ...(request % 10 === 0 && faultHeader) };
      const answer = await api.send('PATCH', '/inventory/101', { headers, body: '{"quantity":5}' });
      statuses.push(answer.status);
    }
    return statuses;
  }

  /** The alarms that are raised a minute after what is logged by now. */
  async function raisedAlarms(): Promise<string[]> {
    const now = Date.now();
    const { alarms } = await localDashboard(stack, {
      stackName,
      logFolder: host.host.logFolder,
      from: { before: 300_000 },
      to: now + 60_000,
    });
    return alarms.filter(({ state }) => state === 'ALARM').map(({ name }) => name);
  }

  const isTakenBack = (raised: readonly string[]): boolean[] =>
    groups.map(
      ({ AlarmConfiguration, AutoRollbackConfiguration }) =>
        AutoRollbackConfiguration.Events.includes('DEPLOYMENT_STOP_ON_ALARM') &&
        AlarmConfiguration.Alarms.some(({ Name }) => raised.includes(Name)),
    );

  test('is one of all six functions of the API', () => {
    expect(groups).toHaveLength(6);
  });

  test('goes on where nothing fails', async () => {
    const statuses = await send({});

    expect(new Set(statuses)).toEqual(new Set([200]));
    while ((host.log.match(/"gatewayError":/g)?.length ?? 0) < statuses.length) await sleep(20);
    expect(isTakenBack(await raisedAlarms())).toEqual(groups.map(() => false));
  });

  test.each([
    ['a function crashes', { 'X-Fault-Update': 'crashes' }, 502, ['api-errors', 'function-errors']],
    ['the authorizer fails', { 'X-Fault-Authorizer': 'throws' }, 503, ['api-errors', 'authorizer-errors']],
  ])('is taken back, all of it, where %s', async (_, faultHeader, status, expected) => {
    const statuses = await send(faultHeader);
    const names = expected.map((id) => `${stackName}-${id}`);
    let raised = await raisedAlarms();
    // The logs are written when the files' turn comes.
    while (!names.every((name) => raised.includes(name))) raised = await raisedAlarms();

    expect(statuses.filter((each) => each === status)).toHaveLength(TENTH);
    expect(isTakenBack(raised)).toEqual(groups.map(() => true));
  });
});
