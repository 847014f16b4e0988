import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { print, table } from '../admin/output.ts';
import { readAssembly, type SynthesizedStack } from '../local/assembly.ts';
import { HostError } from '../local/host-error.ts';
import { exportsOfStage } from '../local/template/account.ts';
import { LocalStack } from '../local/template/stack.ts';
import { DashboardError } from './dashboard-error.ts';
import { dashboardAsJson } from './dashboard-json.ts';
import { type LocalDashboard, localDashboard } from './local-dashboard.ts';
import { textOf } from './log-queries/log-query.ts';
import { runSavedQuery } from './log-queries/saved-query.ts';
import { type DashboardOptions, parseDashboardOptions } from './options.ts';
import { clockTime } from './picture/numbers.ts';
import { drawDashboard } from './picture/picture.ts';
import { pngOf } from './png.ts';

/** `npm run dashboard`: what CloudWatch would show of the service on this machine. */

/** Where `npm start` serves the reference page and the runbooks unless it is told otherwise. */
const PAGE_ORIGIN = 'http://localhost:3000';

try {
  const options = parseDashboardOptions(process.argv.slice(2));
  if (options) await run(options);
} catch (error) {
  process.stderr.write(`${describe(error)}\n`);
  process.exit(1);
}

async function run({ data, assembly, from, to, json, out, query }: DashboardOptions): Promise<void> {
  const logFolder = join(data, 'logs');
  const { name, template } = await synthesized(assembly);
  const stack = new LocalStack(name, template, exportsOfStage(PAGE_ORIGIN));
  if (query !== undefined) {
    const { columns, rows } = await runSavedQuery(stack, query, { logFolder, from, to });
    print({ json }, rows, () =>
      table(
        columns,
        rows.map((row) => columns.map((column) => textOf(row[column]))),
      ),
    );
    return;
  }
  const dashboard = await localDashboard(stack, { stackName: name, logFolder, from, to });
  const file = out ?? (json ? undefined : join(data, 'dashboard.svg'));
  if (file !== undefined) await write(dashboard, file);
  process.stdout.write(json ? `${JSON.stringify(dashboardAsJson(dashboard))}\n` : summary(dashboard, file ?? ''));
}

/** The CDK is loaded only where it is needed: it takes longer than all the rest. */
async function synthesized(assembly: string | undefined): Promise<SynthesizedStack> {
  if (assembly !== undefined) return readAssembly(assembly);
  const { synthesize } = await import('../local/synthesize.ts');
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-'));
  try {
    return synthesize(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function write(dashboard: LocalDashboard, file: string): Promise<void> {
  const picture = drawDashboard(dashboard);
  const content = file.endsWith('.png') ? await pngOf(picture) : picture.svg;
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new DashboardError(`Cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function summary({ alarms, range }: LocalDashboard, file: string): string {
  const raised = alarms.filter(({ state }) => state === 'ALARM');
  const lines = raised.map(({ name, since, description }) => {
    const time = since === undefined ? '' : ` since ${clockTime(since)}`;
    return `ALARM${time}  ${name}\n  ${description}\n`;
  });
  const times = `${new Date(range.from).toISOString()} to ${new Date(range.to).toISOString()}`;
  return `${lines.join('')}${raised.length === 0 ? 'No alarm. ' : ''}${file} shows ${times}.\n`;
}

function describe(error: unknown): string {
  if (error instanceof DashboardError || error instanceof HostError) return `npm run dashboard: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
