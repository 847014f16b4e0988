import {
  GraphWidget,
  type GraphWidgetProps,
  type IMetric,
  type IWidget,
  LegendPosition,
  LogQueryVisualizationType,
  LogQueryWidget,
  TextWidget,
  TextWidgetBackground,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Query } from './queries.ts';

/** Columns of a dashboard. */
export const FULL_WIDTH = 24;

/** The heading of a section: the question that it answers, and how to read it. */
export function heading(question: string, hint: string): TextWidget {
  return new TextWidget({
    markdown: `## ${question}\n${hint}`,
    width: FULL_WIDTH,
    height: 2,
    background: TextWidgetBackground.TRANSPARENT,
  });
}

/** A graph of a third of the width, with its legend below. */
export function graph(title: string, unit: string, left: IMetric[], more: GraphWidgetProps = {}): IWidget {
  const size = { width: FULL_WIDTH / 3, height: 6 };
  return new GraphWidget({
    title,
    left,
    leftYAxis: axis(unit),
    legendPosition: LegendPosition.BOTTOM,
    ...size,
    ...more,
  });
}

/** An axis from 0 on, with its unit as it is written here. */
export const axis = (label: string) => ({ label, min: 0, showUnits: false });

/** What a saved query finds in the time shown. */
export function queryTable(title: string, { query }: Query, logGroups: readonly LogGroup[]): IWidget {
  return new LogQueryWidget({
    title,
    view: LogQueryVisualizationType.TABLE,
    logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
    queryString: query,
    width: FULL_WIDTH,
    height: 6,
  });
}
