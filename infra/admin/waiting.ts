const PATIENCE_MS = 3_000;

let lastReported = 0;

/** Says on standard error that API Gateway is throttling, now and then: the SDK waits and tries again by itself. */
export function reportWaiting(): void {
  if (performance.now() - lastReported < PATIENCE_MS && lastReported > 0) return;
  lastReported = performance.now();
  process.stderr.write('API Gateway takes no more calls for the moment; waiting …\n');
}
