import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const root = join(import.meta.dirname, '../..');

/** Why this machine cannot run the Chromium of the npm package; undefined where it can. */
export const browserObstacle: string | undefined =
  process.platform === 'linux' && process.arch === 'x64'
    ? undefined
    : `its Chromium is for Linux on x64, and this is ${process.platform} on ${process.arch}`;

/** Unpacks Chromium, and the libraries that a small system lacks, into `TMPDIR`. */
const unpack = `
  const { default: chromium } = await import('@sparticuz/chromium');
  process.stdout.write(await chromium.executablePath());
`;

/** A browser with a profile and files of its own. */
export interface StartedBrowser {
  readonly browser: Browser;
  readonly close: () => Promise<void>;
}

/** Starts the Chromium of the npm package. */
export async function startChromium(): Promise<StartedBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-browser-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const browser = await launch(folder);
    const close = async (): Promise<void> => {
      await browser.close();
      removeFolder();
    };
    return { browser, close };
  } catch (error) {
    removeFolder();
    throw error;
  }
}

async function launch(folder: string): Promise<Browser> {
  // As on AWS Lambda, it unpacks the libraries as well.
  const env = { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' };
  const unpacking = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', unpack], {
    cwd: root,
    env,
  });
  const { stdout: executablePath } = await unpacking;
  const { LD_LIBRARY_PATH: libraries = '' } = process.env;
  return chromium.launch({
    executablePath,
    args: ['--font-render-hinting=none'],
    env: {
      ...process.env,
      ...fontSettings(folder),
      LD_LIBRARY_PATH: [libraries, join(folder, 'al2023/lib')].filter((part) => part !== '').join(':'),
    },
  });
}

/** A system without fonts gets the one that comes with Chromium. */
function fontSettings(folder: string): Record<string, string> {
  if (existsSync('/etc/fonts/fonts.conf')) return {};
  const file = join(folder, 'fonts.conf');
  writeFileSync(file, `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`);
  return { FONTCONFIG_FILE: file };
}
