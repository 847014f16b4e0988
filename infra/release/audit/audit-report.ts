import * as v from 'valibot';
import { ReleaseError } from '../release-error.ts';

/** The severities of npm's advisories, least first. */
export const severities = ['info', 'low', 'moderate', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** What is known against a version of a package that is installed. */
export interface Advisory {
  /** Its id, such as `GHSA-35jh-r3h4-6jhm`. */
  readonly id: string;
  readonly package: string;
  readonly severity: Severity;
  readonly title: string;
  readonly url: string;
}

const advisorySchema = v.object({
  source: v.union([v.number(), v.string()]),
  name: v.string(),
  severity: v.picklist(severities),
  title: v.string(),
  url: v.string(),
});

/** A package is vulnerable itself, or for another one that is named here. */
const reportSchema = v.object({
  auditReportVersion: v.literal(2),
  vulnerabilities: v.record(v.string(), v.object({ via: v.array(v.union([v.string(), advisorySchema])) })),
});

/** A failure of npm itself has a code; one of the registry, or of the way to it, has none. */
const failureSchema = v.object({
  message: v.optional(v.string(), ''),
  error: v.optional(v.object({ code: v.optional(v.string()), summary: v.optional(v.string(), '') }), {}),
});

/** What `npm audit` has found, or why the registry did not answer. */
export type AuditReport = { readonly advisories: readonly Advisory[] } | { readonly unanswered: string };

/** Reads what `npm audit --json` has printed. @throws ReleaseError where npm itself has failed */
export function parseAuditReport(json: string): AuditReport {
  const value = parse(json);
  const report = v.safeParse(reportSchema, value);
  if (!report.success) return parseFailure(value);
  const found = Object.values(report.output.vulnerabilities)
    .flatMap(({ via }) => via.filter((cause) => typeof cause !== 'string'))
    .map(({ source, name, severity, title, url }) => ({
      id: /GHSA(?:-[0-9a-z]{4}){3}/.exec(url)?.[0] ?? String(source),
      package: name,
      severity,
      title,
      url,
    }));
  return {
    advisories: [...new Map(found.map((advisory) => [`${advisory.id} ${advisory.package}`, advisory])).values()],
  };
}

function parseFailure(value: unknown): AuditReport {
  const failure = v.safeParse(failureSchema, value);
  if (!failure.success) throw new ReleaseError('npm audit has printed no report that this command knows.');
  const { message, error } = failure.output;
  if (message !== '' && error.code === undefined) return { unanswered: message.replaceAll(/\s+/g, ' ').trim() };
  throw new ReleaseError(`npm audit has failed: ${error.summary || message || 'it gives no reason'}`);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
