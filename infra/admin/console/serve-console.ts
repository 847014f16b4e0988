import { once } from 'node:events';
import { createAdaptorServer } from '@hono/node-server';
import type { StageName } from '../../stages.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { createConsole } from './console-app.ts';
import { newSecret } from './guard.ts';

/** Other machines cannot reach it. */
const LOOPBACK = '127.0.0.1';

export interface ServedConsole {
  readonly origin: string;
  /** The address that lets in whoever opens it first. */
  readonly link: string;
  readonly close: () => void;
}

/** @param port 0: any that is free @throws AdminError where the port cannot be had */
export async function serveConsole(target: Target, stage: StageName | undefined, port: number): Promise<ServedConsole> {
  const token = newSecret();
  // It is made once the port is known, which no request comes before.
  let app: ReturnType<typeof createConsole> | undefined;
  const fetch = (request: Request) => app?.fetch(request) ?? new Response(null, { status: 503 });
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false });
  server.listen(port, LOOPBACK);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new AdminError(`The port ${port} cannot be used (${error.code}). Choose another with --port.`);
  });
  const address = server.address();
  const origin = `http://${LOOPBACK}:${typeof address === 'object' ? address?.port : port}`;
  app = createConsole({ target, stage, origin, token });
  return { origin, link: `${origin}/?token=${token}`, close: () => void server.close() };
}
