import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';

/**
 * Max idle time of a reused connection, in milliseconds. DynamoDB was seen to close them after 60
 * seconds (https://github.com/aws/aws-sdk-java/issues/1365), without a guarantee: this is a third of that.
 */
const MAX_IDLE_MS = 20_000;

/** The SDK's defaults. */
const SETTINGS = { keepAlive: true, maxSockets: 50 };

/**
 * The connections of one client. A function that was frozen meanwhile notices that DynamoDB has closed one only when
 * it uses it: a write then fails, and its outcome is unknown. Timers do not run in a frozen process, so the
 * time of day is compared before each call.
 */
export class Connections {
  readonly agent: HttpAgent;
  /** Unix milliseconds. */
  readonly #idleSince = new WeakMap<Duplex, number>();

  /** @param protocol of the endpoint: emulators of AWS use `http:` */
  constructor(protocol: string) {
    this.agent = protocol === 'http:' ? new HttpAgent(SETTINGS) : new HttpsAgent(SETTINGS);
    this.agent.on('free', (connection: Duplex) => void this.#idleSince.set(connection, Date.now()));
  }

  /** @param maxIdleMs 0 after a failure: the other connections were idle for longer, and are likely to fail too */
  closeIdle(maxIdleMs = MAX_IDLE_MS): void {
    const now = Date.now();
    for (const connection of Object.values(this.agent.freeSockets).flatMap((each) => each ?? [])) {
      // The clock may also have been set back.
      if (Math.abs(now - (this.#idleSince.get(connection) ?? 0)) >= maxIdleMs) connection.destroy();
    }
  }
}
