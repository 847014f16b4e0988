import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';

/**
 * A connection that was idle for longer, in milliseconds, is not used again. DynamoDB was seen to close them after 60
 * seconds (https://github.com/aws/aws-sdk-java/issues/1365), and promises none: this is a third of that.
 */
const MAX_IDLE_MS = 20_000;

/** As the SDK has them. */
const SETTINGS = { keepAlive: true, maxSockets: 50 };

/**
 * The connections of one client. A function that was frozen meanwhile finds out that DynamoDB has closed one only when
 * it uses it: a write then fails, and it is not known whether it was made. No timer runs in a frozen process, so the
 * time of day is compared before each call.
 */
export class Connections {
  readonly agent: HttpAgent;
  /** Unix milliseconds. */
  readonly #idleSince = new WeakMap<Duplex, number>();

  /** @param protocol of the endpoint: emulators of AWS have `http:` */
  constructor(protocol: string) {
    this.agent = protocol === 'http:' ? new HttpAgent(SETTINGS) : new HttpsAgent(SETTINGS);
    this.agent.on('free', (connection: Duplex) => void this.#idleSince.set(connection, Date.now()));
  }

  /** @param maxIdleMs 0 once a connection has failed: the others were idle for longer, and are likely to fail too */
  closeIdle(maxIdleMs = MAX_IDLE_MS): void {
    const now = Date.now();
    for (const connection of Object.values(this.agent.freeSockets).flatMap((each) => each ?? [])) {
      // The clock may have been set back too.
      if (Math.abs(now - (this.#idleSince.get(connection) ?? 0)) >= maxIdleMs) connection.destroy();
    }
  }
}
