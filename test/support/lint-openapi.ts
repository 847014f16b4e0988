import { type RuleDefinition, type RulesetDefinition, Spectral } from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';
import { oas } from '@stoplight/spectral-rulesets';
import { limitHeaders } from '../../shared/http/authorizer-context.ts';

/** Something that a linter says of a document. */
export interface Finding {
  readonly rule: string;
  /** Where, with slashes. Parts that are used in several places are found in each. */
  readonly path: string;
  readonly message: string;
}

interface Exception {
  readonly rule: string;
  /** Part of the path; everywhere where absent. */
  readonly where?: RegExp;
  readonly reason: string;
}

/** The rules that do not hold here, each with its reason. Whatever else the rule sets say is a fault. */
export const exceptions: readonly Exception[] = [
  {
    rule: 'owasp:api1:2023-no-numeric-ids',
    reason:
      'The specification has numeric ids (§2); whoever has a key may see every pet, so there is nothing to guess.',
  },
  {
    rule: 'owasp:api4:2023-rate-limit',
    reason: 'It wants one family of limit headers, and takes two for a fault. Our own rule wants both.',
  },
  {
    rule: 'owasp:api4:2023-array-limit',
    where: /InventoryList$|OrderList$|get\/responses\/200\/content\/application\/json\/schema$/,
    reason: 'Without a limit these are the whole list, streamed, whatever its length.',
  },
  {
    rule: 'owasp:api4:2023-string-limit',
    where: /shipDate$/,
    reason: 'A date and time has no more characters than its format allows.',
  },
  {
    rule: 'owasp:api4:2023-string-limit',
    where: /parameters\/(?:Cursor|1)\/schema$/,
    reason: 'The pattern of a cursor bounds its length.',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    where: /\/name$/,
    reason: 'What people call a pet, a category or a tag is free text.',
  },
  { rule: 'info-contact', reason: 'Whoever deploys the service is who to turn to; the code does not know them.' },
  { rule: 'license-url', reason: 'A license has either a URL or, as here, its SPDX identifier (OpenAPI 3.1 §4.8.4).' },
];

const ourRules: Record<string, RuleDefinition> = {
  'our-limit-headers': wants('$.paths[*][*].responses[*].headers', Object.keys(limitHeaders)),
  'our-stability': wants('$.paths[*][*]', ['operationId', 'summary', 'description', 'tags', 'x-stability']),
  'our-error-examples': wants('$.paths[*][*].responses[?(@property >= 400)].content[*]', ['schema', 'examples']),
};

/** Lints an OpenAPI document with all rules of Spectral's OpenAPI and OWASP sets, and with ours. */
export async function lintOpenApi(document: object): Promise<Finding[]> {
  const spectral = new Spectral();
  spectral.setRuleset({
    extends: [
      [rulesetOf(oas), 'all'],
      [rulesetOf(owasp), 'all'],
    ],
    rules: ourRules,
  });
  const results = await spectral.run({ ...document });
  return results.map(({ code, path, message }) => ({ rule: String(code), path: path.join('/'), message }));
}

/** Whether an exception is for a finding. */
export const excuses = ({ rule, where }: Exception, finding: Finding): boolean =>
  rule === finding.rule && (where?.test(finding.path) ?? true);

/** A rule that wants properties of every object that a path leads to. */
function wants(given: string, properties: readonly string[]): RuleDefinition {
  const check = (value: unknown) => {
    const missing = properties.filter((name) => typeof value !== 'object' || value === null || !(name in value));
    return missing.map((name) => ({ message: `${name} is missing.` }));
  };
  // oxlint-disable-next-line unicorn/no-thenable -- the linter's name for what a rule does
  return { given, severity: 'error', then: { function: check } };
}

/** The packages' own types are not quite the linter's. */
function rulesetOf(value: object): RulesetDefinition {
  if (isRuleset(value)) return value;
  throw new Error('This is no ruleset');
}

function isRuleset(value: object): value is RulesetDefinition {
  return 'rules' in value;
}
