import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import * as v from 'valibot';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const findingsSchema = v.array(v.object({ id: v.string(), nodes: v.array(v.object({ html: v.string() })) }));

/** What axe-core finds wrong with a page, for those who do not see it or use no mouse. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const findings = v.parse(findingsSchema, await page.evaluate('axe.run().then(({ violations }) => violations)'));
  return findings.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`);
}
