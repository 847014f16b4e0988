import type { ConsoleMessage, Locator, Page, Request } from 'playwright-core';

/** What the try-it shows of an answer. */
interface ShownAnswer {
  /** Such as `200 OK`. */
  readonly status: string;
  readonly body: string;
}

/** The reference page in a browser, as its readers use it. */
export class ReferencePage {
  readonly page: Page;
  /** What the page has complained about: errors, warnings, exceptions. */
  readonly complaints: string[] = [];
  /** Origins that the page has sent requests to. */
  readonly origins = new Set<string>();

  constructor(page: Page) {
    this.page = page;
    page.setDefaultTimeout(20_000);
    page.on('console', (message) => this.#note(message));
    page.on('pageerror', ({ message }) => this.complaints.push(message));
    page.on('request', (request) => this.#trace(request));
  }

  /** Opens the page at an origin, and waits until it is there. */
  async open(origin: string): Promise<void> {
    await this.page.goto(origin);
    await this.page.getByRole('heading', { level: 1 }).waitFor();
  }

  /** Goes to an operation by the menu, and opens its try-it. */
  async tryOut(method: string, path: string): Promise<void> {
    const menu = this.page.getByRole('button', { name: 'Open Menu' });
    if (await menu.isVisible()) await menu.click();
    await this.#links(method, path).filter({ visible: true }).first().click();
    const operation = `(${method.toLowerCase()} ${path})`;
    await this.page.getByRole('button', { name: 'Test Request' }).filter({ hasText: operation }).click();
    await this.#client.waitFor();
  }

  /** Sends what the try-it has, and waits until it shows the answer. */
  async send(): Promise<ShownAnswer> {
    const [response] = await Promise.all([
      this.page.waitForResponse((candidate) => candidate.request().method() !== 'OPTIONS'),
      this.#sendButton.click(),
    ]);
    const shown = this.#client.getByRole('region', { name: 'Response', exact: true });
    const status = await shown.getByRole('link', { name: String(response.status()) }).innerText();
    return { status, body: await shown.locator('.cm-content').innerText() };
  }

  /** Closes the try-it. */
  async closeTryOut(): Promise<void> {
    await this.#client.getByRole('button', { name: 'Close Client' }).first().click();
    await this.#client.waitFor({ state: 'hidden' });
  }

  async enterKey(key: string): Promise<void> {
    await this.#client.getByRole('textbox', { name: 'Bearer Token' }).fill(key);
  }

  async removeKey(): Promise<void> {
    await this.#client.getByRole('button', { name: 'Clear Value' }).click();
  }

  /** How many links lead to an operation. */
  linksTo(method: string, path: string): Promise<number> {
    return this.#links(method, path).count();
  }

  /** By how many pixels the page is wider than the screen. */
  overflow(): Promise<number> {
    return this.page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
  }

  #links(method: string, path: string): Locator {
    return this.page.locator(`a[href="#tag/${tagOf(path)}/${method}${path}"]`);
  }

  /** The dialog of the try-it. */
  get #client(): Locator {
    return this.page.getByRole('dialog', { name: 'API Client' });
  }

  get #sendButton(): Locator {
    return this.#client.getByRole('button', { name: /^Send \w+ request/ }).filter({ visible: true });
  }

  #note(message: ConsoleMessage): void {
    if (['error', 'warning', 'assert'].includes(message.type())) this.complaints.push(message.text());
  }

  #trace(request: Request): void {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:') this.origins.add(origin);
  }
}

/** The tag of an operation is the area that its path begins with, but for orders. */
function tagOf(path: string): string {
  return path.startsWith('/store/orders') ? 'orders' : (path.split('/')[1] ?? '');
}
