import * as v from 'valibot';
import { readLogEvents } from '../../local/metrics/log-events.ts';
import type { LocalStack } from '../../local/template/stack.ts';
import { DashboardError } from '../dashboard-error.ts';
import type { LocalDashboardOptions } from '../local-dashboard.ts';
import { timeRange } from '../time-range.ts';
import { type LogTable, runLogQuery } from './log-query.ts';

const definitionSchema = v.object({ Name: v.string(), QueryString: v.string(), LogGroupNames: v.array(v.string()) });

/**
 * Runs a saved query of the stack on the logs of a local run.
 *
 * @param name without the folder that it has in the console
 * @throws DashboardError where there is no such query, or a part of it is not known here
 */
export async function runSavedQuery(
  stack: LocalStack,
  name: string,
  { logFolder, from, to }: Omit<LocalDashboardOptions, 'stackName'>,
): Promise<LogTable> {
  const definitions = stack
    .resources('AWS::Logs::QueryDefinition')
    .map(({ properties }) => v.parse(definitionSchema, properties));
  const definition = definitions.find(({ Name }) => nameOf(Name) === name);
  if (!definition) {
    const names = definitions.map(({ Name }) => nameOf(Name)).join(', ');
    throw new DashboardError(`There is no saved query "${name}". There are: ${names}`);
  }
  const events = await readLogEvents(logFolder);
  const range = timeRange(events, { from, to });
  const sources = definition.LogGroupNames.map((logGroup) => `SOURCE '${logGroup}'`);
  return runLogQuery(
    [...sources, definition.QueryString].join('\n| '),
    events.filter(({ at }) => at >= range.from && at < range.to),
  );
}

/** Without the folder. */
function nameOf(fullName: string): string {
  return fullName.split('/').at(-1) ?? '';
}
