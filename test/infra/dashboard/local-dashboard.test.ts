import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { browserObstacle } from '../../../infra/dashboard/chromium.ts';
import { dashboardAsJson } from '../../../infra/dashboard/dashboard-json.ts';
import { type LocalDashboard, localDashboard } from '../../../infra/dashboard/local-dashboard.ts';
import { runSavedQuery } from '../../../infra/dashboard/log-queries/saved-query.ts';
import { drawDashboard } from '../../../infra/dashboard/picture/picture.ts';
import { pngOf } from '../../../infra/dashboard/png.ts';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { exportsOfStage } from '../../../infra/local/template/account.ts';
import { LocalStack } from '../../../infra/local/template/stack.ts';
import { alarmCatalogue } from '../../../infra/stack/watching/alarm-catalogue.ts';
import { LocalHost } from '../../support/local-host.ts';
import { loggedRequests } from '../../support/request-lines.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { elementsOf, textsOf } from '../../support/well-formed.ts';

const { name, template } = readAssembly(synthesizedOnce());
// Where npm start serves the runbooks.
const stack = new LocalStack(name, template, exportsOfStage('http://localhost:3000'));

if (browserObstacle !== undefined) {
  process.stderr.write(`The test of the dashboard as a PNG is skipped: ${browserObstacle}.\n`);
}

const graphSchema = v.object({
  series: v.array(v.object({ label: v.string(), points: v.array(v.object({ value: v.number() })) })),
});

/** Refused requests: too few for an alarm. */
const FLOOD = 8;

const accessLines = (log: string): number => log.match(/"gatewayError":/g)?.length ?? 0;

describe('the dashboard of a local run', () => {
  let host: LocalHost;
  let dashboard: LocalDashboard;

  async function send(count: number, path: string, key: string, init: RequestInit = {}): Promise<void> {
    for (let sent = 0; sent < count; sent++) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const response = await fetch(`${host.baseUrl}${path}`, { ...init, headers });
      await response.arrayBuffer();
    }
  }

  beforeAll(async () => {
    host = await LocalHost.start();
    const { free, business } = host.host.keys;
    await host.putStock({ petId: 7n, quantity: 1, status: 'available' });
    await send(3, '/inventory', business);
    await send(4, '/inventory/7', business, { method: 'PATCH', body: '{"quantity":5}' });
    await send(2, '/nowhere', free);
    await send(FLOOD, '/inventory', 'psk_notOurs');
    await loggedRequests(host, 9 + FLOOD);
    // A line of the access log comes last, and the sink writes when it likes.
    while (accessLines(host.log) < 9 + FLOOD) await sleep(20);

    dashboard = await localDashboard(stack, {
      stackName: name,
      logFolder: host.host.logFolder,
    });
  });

  afterAll(() => host.close());

  /** The sum of all data points of a line of a graph. */
  function total(title: string, label: string): number | undefined {
    const widget = dashboardAsJson(dashboard).widgets.find((one) => one.title === title);
    const { series } = v.parse(graphSchema, widget?.content);
    return series.find((one) => one.label === label)?.points.reduce((sum, { value }) => sum + value, 0);
  }

  test.each([
    ['Requests, and how many fail', 'Requests', 9 + FLOOD],
    ['Requests, and how many fail', '4xx', 2 + FLOOD],
    ['Requests, and how many fail', '5xx', 0],
    ['Requests by plan', 'Business', 7],
    ['Requests by plan', 'Free', 2],
    ['Requests by plan', 'No valid key', FLOOD],
    ['Requests by operation', 'listInventory', 3 + FLOOD],
    ['Requests by operation', 'updateInventory', 4],
    ['Refusals by reason', 'API_KEY_INVALID', FLOOD],
    ['Functions that break off or are throttled', 'authorizer', 0],
  ])('%s: %s', (title, label, count) => {
    expect(total(title, label)).toBe(count);
  });

  test('tells how long the answers took, and what the functions cost', () => {
    expect(total('Time to answer (without the lists)', 'Update p99')).toBeGreaterThan(0);
    expect(total('Lambda', 'authorizer')).toBeGreaterThan(0);
    expect(total('USD an hour', 'API Gateway')).toBeGreaterThan(0);
    expect(total('Logs written', 'Bytes')).toBeGreaterThan(1_000);
  });

  test('names who is refused most', () => {
    const { content } =
      dashboardAsJson(dashboard).widgets.find(({ title }) => title === 'Keys that are refused most') ?? {};

    expect(content).toMatchObject({ rows: [{ keyId: 'none', reason: 'API_KEY_INVALID', refusals: FLOOD }] });
  });

  test('has each alarm of the stack, and says of which the logs do not tell', () => {
    const { alarms } = dashboardAsJson(dashboard);
    const stateOf = (id: keyof typeof alarmCatalogue) => alarms.find((alarm) => alarm.name === `${name}-${id}`)?.state;

    // The firewall is production's.
    expect(alarms).toHaveLength(Object.keys(alarmCatalogue).length - 1);
    expect(stateOf('api-errors')).toBe('OK');
    expect(stateOf('many-refusals')).toBe('OK');
    expect(stateOf('throttled-database')).toBe('NOT_MEASURED');
  });

  test('has the saved queries beside it', async () => {
    const { logFolder } = host.host;
    const mostRefused = await runSavedQuery(stack, 'Who is refused most, and why', { logFolder });

    expect(mostRefused).toMatchObject({ rows: [{ refusals: FLOOD }] });
    await expect(runSavedQuery(stack, 'Who is it', { logFolder })).rejects.toThrow(
      /^There is no saved query "Who is it"\. There are: Slowest requests/,
    );
  });

  describe('npm run dashboard', () => {
    const main = join(import.meta.dirname, '../../../infra/dashboard/main.ts');
    const run = promisify(execFile);

    test('prints it as JSON', async () => {
      const data = dirname(host.host.logFolder);
      const { stdout } = await run(process.execPath, [main, '--json', '--data', data, '--assembly', synthesizedOnce()]);

      expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(dashboardAsJson(dashboard))));
    });

    test('says in one line why it cannot', async () => {
      const running = run(process.execPath, [main, '--data', 'nowhere', '--assembly', synthesizedOnce()]);

      await expect(running).rejects.toMatchObject({
        code: 1,
        stdout: '',
        stderr: 'npm run dashboard: There are no logs in nowhere/logs: start the service with npm start\n',
      });
    });
  });

  test('is drawn with every widget, its title and its numbers', () => {
    const { svg } = drawDashboard(dashboard);
    const titles = dashboard.widgets.flatMap(({ widget: { properties } }) =>
      'title' in properties && properties.title !== undefined ? [properties.title] : [],
    );

    expect(elementsOf(svg)).toContain('svg');
    expect(textsOf(svg)).toEqual(expect.arrayContaining(titles));
    expect(textsOf(svg)).toEqual(
      expect.arrayContaining(['Is it healthy?', 'api-errors', name, 'API_KEY_INVALID', String(FLOOD)]),
    );
    expect(dashboard.widgets.map(({ content }) => content.kind)).toEqual(
      expect.arrayContaining(['text', 'graph', 'numbers', 'alarms', 'table']),
    );
  });

  (browserObstacle === undefined ? describe : describe.skip)('in a browser', () => {
    test('is a PNG of the same size', async () => {
      const picture = drawDashboard(dashboard);
      const png = await pngOf(picture);

      expect(png.toString('latin1', 1, 4)).toBe('PNG');
      expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([picture.width, picture.height]);
    });
  });
});
