import type { Page } from 'playwright-core';
import { browserObstacle, startChromium, type StartedBrowser } from './chromium.ts';

export { browserObstacle };

export interface Screen {
  readonly width: number;
  readonly height: number;
  /** A touch screen with a phone's pixels. */
  readonly isPhone?: boolean;
  readonly colorScheme?: 'light' | 'dark';
}

/** A real browser, with a profile and files of its own. */
export class TestBrowser {
  readonly #started: StartedBrowser;

  private constructor(started: StartedBrowser) {
    this.#started = started;
  }

  static async start(): Promise<TestBrowser> {
    return new TestBrowser(await startChromium());
  }

  /** A new page, with no memory of other ones. */
  async newPage({ width, height, isPhone = false, colorScheme = 'light' }: Screen): Promise<Page> {
    const context = await this.#started.browser.newContext({
      viewport: { width, height },
      colorScheme,
      ...(isPhone && { isMobile: true, hasTouch: true, deviceScaleFactor: 2 }),
    });
    // Pages of other origins may call this machine, as far as it allows them: that is what is tested.
    await context.grantPermissions(['local-network-access']);
    return context.newPage();
  }

  async close(): Promise<void> {
    await this.#started.close();
  }
}
