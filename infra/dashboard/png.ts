import { DashboardError } from './dashboard-error.ts';
import type { Picture } from './picture/picture.ts';

/**
 * The picture as PNG.
 *
 * @throws DashboardError where no browser can draw it
 */
export async function pngOf({ svg, width, height }: Picture): Promise<Buffer> {
  // Only who wants a PNG needs the browser.
  const { browserObstacle, startChromium } = await import('./chromium.ts');
  if (browserObstacle !== undefined) {
    throw new DashboardError(
      `A PNG is drawn by a browser, and ${browserObstacle}: use --out with a name that ends in .svg`,
    );
  }
  const { browser, close } = await startChromium();
  try {
    const page = await browser.newPage({ viewport: { width, height } });
    await page.setContent(`<body style="margin:0">${svg}</body>`);
    return await page.screenshot();
  } finally {
    await close();
  }
}
