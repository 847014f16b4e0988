import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from 'playwright-core';
import * as v from 'valibot';

const root = path.join(import.meta.dirname, '../..');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const findingsSchema = v.array(v.object({ id: v.string(), nodes: v.array(v.object({ html: v.string() })) }));

/** `npm run admin -- console` in a process of its own. */
export class AdminConsole {
  readonly #process: ChildProcess;
  /** The address that it has printed. */
  readonly link: string;
  /** All that it printed. */
  printed = '';

  private constructor(child: ChildProcess, link: string) {
    this.#process = child;
    this.link = link;
  }

  /** @param url of the local host */
  static async start(url: string): Promise<AdminConsole> {
    const words = ['infra/admin/main.ts', 'console', '--url', url, '--no-open'];
    const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface(child.stdout)) {
      const [link] = /http:\S+\?token=\S+/.exec(line) ?? [];
      if (link === undefined) continue;
      const started = new AdminConsole(child, link);
      child.stdout.on('data', (text) => (started.printed += String(text)));
      return started;
    }
    throw new Error('The console has ended without printing an address.');
  }

  get origin(): string {
    return new URL(this.link).origin;
  }

  async close(): Promise<void> {
    const closed = once(this.#process, 'close');
    this.#process.kill('SIGINT');
    await closed;
  }
}

/** What axe-core finds wrong with a page, for those who do not see it or use no mouse. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const findings = v.parse(findingsSchema, await page.evaluate('axe.run().then(({ violations }) => violations)'));
  return findings.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`);
}
