import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { Command } from 'commander';
import { ReleaseError } from '../release-error.ts';
import { runCommand } from '../run-command.ts';
import { allowlistProblems, holds, readAllowlist } from './allowlist.ts';
import { type Advisory, type AuditReport, parseAuditReport, severities } from './audit-report.ts';

/** `npm run audit`: what is known against the packages that are installed, and whether somebody has looked at it. */

/** From here on an advisory must be on the allow-list. */
const LEAST_REFUSED = severities.indexOf('moderate');

/** Nothing is known: neither good nor bad. */
const UNANSWERED = 3;

await runCommand(
  new Command('npm run audit --')
    .description(
      'Asks the registry what is known against the packages that are installed. Exits with 1 where an advisory of moderate ' +
        'severity or worse is not allowed, or the allow-list is out of date; with 2 on failures; with 3 where the ' +
        'registry answers no audit requests.',
    )
    .option('--allowlist <file>', 'advisories that may stand', path.join(import.meta.dirname, 'allowlist.json'))
    .action(audit),
);

function audit({ allowlist }: { readonly allowlist: string }): void {
  const allowances = readAllowlist(allowlist);
  const report = npmAudit();
  if ('unanswered' in report) {
    process.stderr.write(`The registry answers no audit requests: ${report.unanswered}\n`);
    process.exitCode = UNANSWERED;
    return;
  }
  const now = Date.now();
  const allowed = new Map(allowances.filter((one) => holds(one, now)).map((one) => [one.advisory, one]));
  const refused = report.advisories.filter((one) => isGrave(one) && !allowed.has(one.id));
  const problems = allowlistProblems(allowances, report.advisories, now);
  for (const advisory of report.advisories) {
    const allowance = allowed.get(advisory.id);
    print(`${describe(advisory)}${allowance ? `; allowed until ${allowance.until}: ${allowance.reason}` : ''}`);
  }
  for (const problem of problems) print(`Allow-list: ${problem}`);
  const count = (severity: string) => report.advisories.filter((one) => one.severity === severity).length;
  print(`${severities.map((severity) => `${count(severity)} ${severity}`).join(', ')}; ${refused.length} refused`);
  if (refused.length + problems.length > 0) process.exitCode = 1;
}

function isGrave({ severity }: Advisory): boolean {
  return severities.indexOf(severity) >= LEAST_REFUSED;
}

function describe({ severity, package: name, title, id, url }: Advisory): string {
  return `${severity}: ${name}: ${title} (${id}, ${url})`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** npm reads the lock file of the folder that it is run in. Its exit code says no more than its report. */
function npmAudit(): AuditReport {
  const { error, stdout } = spawnSync('npm', ['audit', '--json'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (error) throw new ReleaseError(`npm cannot be run: ${error.message}.`);
  return parseAuditReport(stdout);
}
