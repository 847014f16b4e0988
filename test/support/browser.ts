import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe } from '@jest/globals';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { HANG_MS } from './until.ts';

const root = join(import.meta.dirname, '../..');

const isSupported = process.platform === 'linux' && process.arch === 'x64';

/** Tests in the Chromium of the npm package; skipped, with a word about it, where that does not run. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (!isSupported) process.stderr.write(`Skipped, as Chromium is for Linux on x64 here: ${name}.\n`);
  (isSupported ? describe : describe.skip)(name, tests);
}

/** Takes a picture of the README, if asked: `TAKE_PICTURES=1 npm run jest -- reference-page admin-console`. */
export async function takePicture(page: Page, name: string, height = 620): Promise<void> {
  if (process.env['TAKE_PICTURES'] === undefined) return;
  const viewport = page.viewportSize();
  await page.setViewportSize({ width: 1000, height });
  await page.screenshot({ path: join(root, `docs/pictures/${name}.png`) });
  if (viewport) await page.setViewportSize(viewport);
}

export type FormFields = Readonly<Record<'shown' | 'sent', Set<string>>>;

/** Runs in each page. A field is named with its form's method and path, and a form without fields by these. */
const reportFields = `
  const report = (event, form, isWanted) => {
    const path = new URL(form.action).pathname.replace(/^\\/[^/]+/, '').replace(/^\\/keys\\/[^/]+\\//, '/keys/:id/');
    const fields = [...form.elements].filter(({ type }) => type !== 'hidden' && type !== 'submit');
    const names = fields.filter(isWanted).map(({ name }) => name);
    if (fields.length === 0) names.push(form.elements.confirmed ? 'confirmed' : '');
    addFields(event, names.map((name) => [form.method, path, name].join(' ')));
  };
  const isFilled = ({ selectedOptions, value, defaultValue }) =>
    selectedOptions ? !selectedOptions[0].defaultSelected : value !== defaultValue;
  addEventListener('DOMContentLoaded', () => [...document.forms].map((form) => report('shown', form, () => true)));
  addEventListener('submit', ({ target }) => report('sent', target, isFilled));
`;

/** The fields of all forms that a page shows from now on, and those that were filled in and sent. */
export async function watchForms(page: Page): Promise<FormFields> {
  const fields: FormFields = { shown: new Set(), sent: new Set() };
  await page.exposeFunction('addFields', (event: keyof FormFields, names: readonly string[]) => {
    for (const name of names) fields[event].add(name);
  });
  await page.addInitScript(reportFields);
  return fields;
}

/** Unpacks Chromium, and the libraries that a small system lacks, into `TMPDIR`. */
const unpack = `
  const { default: chromium } = await import('@sparticuz/chromium');
  process.stdout.write(await chromium.executablePath());
`;

/** The Chromium of the npm package, with a profile and files of its own. */
export class TestBrowser {
  readonly #browser: Browser;
  readonly #directory: string;

  private constructor(browser: Browser, directory: string) {
    this.#browser = browser;
    this.#directory = directory;
  }

  static async start(): Promise<TestBrowser> {
    const directory = mkdtempSync(join(tmpdir(), 'pet-store-browser-'));
    try {
      return new TestBrowser(await launch(directory), directory);
    } catch (error) {
      rmSync(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /** A new page, with no memory of other ones. */
  async newPage(screen: BrowserContextOptions): Promise<Page> {
    const context = await this.#browser.newContext(screen);
    // Pages of other origins may call this machine, as far as it allows them: that is what is tested.
    await context.grantPermissions(['local-network-access']);
    context.setDefaultTimeout(HANG_MS);
    return context.newPage();
  }

  async close(): Promise<void> {
    await this.#browser.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

async function launch(directory: string): Promise<Browser> {
  // As on AWS Lambda, it also unpacks the libraries.
  const env = { ...process.env, TMPDIR: directory, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' };
  const args = ['--input-type=module', '--eval', unpack];
  const { stdout: executablePath } = await promisify(execFile)(process.execPath, args, { cwd: root, env });
  const { LD_LIBRARY_PATH: libraries = '' } = process.env;
  return chromium.launch({
    executablePath,
    timeout: HANG_MS,
    args: ['--font-render-hinting=none', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1'],
    env: {
      ...process.env,
      ...fontSettings(directory),
      LD_LIBRARY_PATH: [libraries, join(directory, 'al2023/lib')].filter((part) => part !== '').join(':'),
    },
  });
}

/** A system without fonts gets the one that comes with Chromium. */
function fontSettings(directory: string): Record<string, string> {
  if (existsSync('/etc/fonts/fonts.conf')) return {};
  const file = join(directory, 'fonts.conf');
  writeFileSync(
    file,
    `<fontconfig><dir>${directory}/fonts</dir><cachedir>${directory}/font-cache</cachedir></fontconfig>`,
  );
  return { FONTCONFIG_FILE: file };
}
