import { isMeasured } from '../local/metrics/local-metrics.ts';
import type { MetricIdentity, MetricStore } from '../local/metrics/metric-store.ts';
import type { Statistic } from '../local/metrics/statistic.ts';
import { DashboardError } from './dashboard-error.ts';
import { evaluate, type Series } from './expression/evaluate.ts';
import { type Expression, parseExpression, partsOf } from './expression/parse.ts';

/** Periods of one length, one after the other. */
export interface TimeGrid {
  /** Unix milliseconds. */
  readonly start: number;
  readonly periodMs: number;
  readonly count: number;
}

/** A metric, or a formula over other queries by their ids. */
export type MetricQuery =
  | { readonly kind: 'metric'; readonly metric: MetricIdentity; readonly statistic: Statistic }
  | { readonly kind: 'expression'; readonly expression: string };

/** Queries that belong together: those of one widget, or of one alarm. */
export class MetricMath {
  readonly #store: MetricStore;
  readonly #queries: ReadonlyMap<string, MetricQuery>;
  readonly #expressions: ReadonlyMap<string, Expression>;

  /** @throws DashboardError for an expression that cannot be read */
  constructor(store: MetricStore, queries: ReadonlyMap<string, MetricQuery>) {
    this.#store = store;
    this.#queries = queries;
    this.#expressions = new Map(
      [...queries].flatMap(([id, query]) =>
        query.kind === 'expression' ? [[id, parseExpression(query.expression)]] : [],
      ),
    );
  }

  /** A data point for each period, undefined where there is none. @throws DashboardError for a formula that is not known here */
  series(id: string, grid: TimeGrid): Series {
    const query = this.#query(id);
    const { start, periodMs, count } = grid;
    if (query.kind === 'metric') {
      return Array.from({ length: count }, (_, index) => {
        const from = start + index * periodMs;
        const values = this.#store.between(query.metric, from, from + periodMs);
        return values.length === 0 ? undefined : query.statistic(values);
      });
    }
    return evaluate(this.#expression(id), {
      length: count,
      periodSeconds: periodMs / 1_000,
      series: (name) => this.series(name, grid),
      metrics: () => this.#metricIds().map((metricId) => this.series(metricId, grid)),
    });
  }

  /** The metrics behind a query that a local run does not tell, such as `AWS/SQS NumberOfMessagesSent`. */
  notMeasured(id: string): string[] {
    const query = this.#query(id);
    if (query.kind === 'metric') {
      return isMeasured(query.metric) ? [] : [`${query.metric.namespace} ${query.metric.name}`];
    }
    return [...new Set(this.#idsIn(this.#expression(id)).flatMap((name) => this.notMeasured(name)))];
  }

  #query(id: string): MetricQuery {
    const query = this.#queries.get(id);
    if (!query) throw new DashboardError(`A formula names ${id}, and there is no such metric beside it`);
    return query;
  }

  #expression(id: string): Expression {
    const expression = this.#expressions.get(id);
    if (!expression) throw new DashboardError(`There is no formula ${id}`);
    return expression;
  }

  #metricIds(): string[] {
    return [...this.#queries].flatMap(([id, { kind }]) => (kind === 'metric' ? [id] : []));
  }

  #idsIn(expression: Expression): string[] {
    if (expression.kind === 'name') return this.#queries.has(expression.name) ? [expression.name] : [];
    if (expression.kind === 'call' && expression.name === 'metrics') return this.#metricIds();
    return partsOf(expression).flatMap((part) => this.#idsIn(part));
  }
}
