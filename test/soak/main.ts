import '../model/virtual-time.ts';
import { violationsOfLimiter } from '../model/limiter-check.ts';
import { LimiterSchedule } from '../model/limiter-schedule.ts';
const [first, count] = [Number(process.argv[2]), Number(process.argv[3])];
const t = performance.now();
let requests = 0, commits = 0; const kinds: Record<string, number> = {};
let bad = 0;
for (let seed = first; seed < first + count; seed++) {
  const history = await LimiterSchedule.run(seed);
  requests += history.told.length; commits += history.commits.length;
  for (const { outcome } of history.told) { const k = outcome.kind === 'refused' ? outcome.reason : outcome.kind; kinds[k] = (kinds[k] ?? 0) + 1; }
  const violations = violationsOfLimiter(history);
  if (violations.length > 0) { bad++; console.log(seed, violations.length, violations.slice(0, 3)); }
  if (bad > 8) break;
}
console.log({ requests, commits, kinds, bad, ms: performance.now() - t });
