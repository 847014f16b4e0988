import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

// Takes the pictures of the README, from a running local server and console:
//   node infra/reference/pictures.ts http://localhost:3000 'http://127.0.0.1:PORT/…?token=…'

const [reference, consoleLink] = process.argv.slice(2);
if (reference === undefined || consoleLink === undefined)
  throw new Error('Pass the addresses of reference and console.');

const target = join(import.meta.dirname, '../../docs/pictures');
const directory = mkdtempSync(join(tmpdir(), 'pet-store-pictures-'));
mkdirSync(target, { recursive: true });
try {
  // As on AWS Lambda, it also unpacks the libraries.
  Object.assign(process.env, { TMPDIR: directory, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' });
  const { default: lambdaChromium } = await import('@sparticuz/chromium');
  const browser = await chromium.launch({
    executablePath: await lambdaChromium.executablePath(),
    args: ['--font-render-hinting=none'],
    env: { ...process.env, LD_LIBRARY_PATH: join(directory, 'al2023/lib') },
  });
  for (const [name, address] of Object.entries({ console: consoleLink, reference })) {
    const page = await browser.newPage({ viewport: { width: 1000, height: 620 } });
    await page.goto(address, { waitUntil: 'networkidle' });
    await page.screenshot({ path: join(target, `${name}.png`) });
  }
  await browser.close();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
