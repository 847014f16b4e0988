import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secretsInLog } from './secrets.ts';

/**
 * Looks for secrets in the logs of a host. Its last lines are written while it closes, and with it the folder may go;
 * so the files are linked to from elsewhere before, and read after.
 */
export class LogScan {
  readonly #links = mkdtempSync(join(tmpdir(), 'pet-store-log-scan-'));

  /** Call it before the host is closed. */
  constructor(logFolder: string) {
    for (const file of readdirSync(logFolder)) linkSync(join(logFolder, file), join(this.#links, file));
  }

  /** Call it after. @throws Error that names file, line and kind of each secret, and no secret */
  expectNoSecrets(keys: Iterable<string>): void {
    const known = [...keys];
    const leaks = readdirSync(this.#links).flatMap((file) =>
      secretsInLog(readFileSync(join(this.#links, file), 'utf8'), known).map(
        ({ kind, line }) => `${file}:${line}: ${kind}`,
      ),
    );
    rmSync(this.#links, { recursive: true });
    if (leaks.length > 0) throw new Error(`There are secrets in the logs:\n${leaks.join('\n')}`);
  }
}
