/** A reason why the dashboard cannot be drawn, in one line that says what to do. Shown without a stack trace. */
export class DashboardError extends Error {
  override readonly name = 'DashboardError';
}
