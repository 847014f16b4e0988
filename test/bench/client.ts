import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { demoKey } from '../../infra/demo-keys.ts';
import { InventoryClient } from '../../shared/client/pet-store-inventory-client.ts';
import { type Figure, median, report, timeOf } from './figure.ts';

const WARM_UP = 200;
const RUNS = 1_000;
const PET = 701n;

/** A server that answers an update at once, so that nothing hides what the client itself costs. */
const instantServer = `
  const { createServer } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  const body = '{"petId":701,"quantity":7,"status":"available"}';
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    ETag: '"7"',
    'X-RateLimit-Limit': 1000,
    'X-RateLimit-Remaining': 999,
    'X-RateLimit-Reset': 1795253280,
    'RateLimit-Policy': '"minute";q=1000;w=60, "day";q=100000;w=86400',
    RateLimit: '"minute";r=999;t=30, "day";r=99999;t=4000',
  };
  const listening = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, headers).end(body));
  }).listen(0, '127.0.0.1', () => parentPort.postMessage(listening.address().port));
`;

/** What an update through the client takes beside the same request with a plain fetch. The two take turns. */
export async function benchClient(): Promise<Figure[]> {
  const worker = new Worker(instantServer, { eval: true });
  try {
    const [port]: unknown[] = await once(worker, 'message');
    const baseUrl = `http://127.0.0.1:${String(port)}/v1`;
    const apiKey = demoKey('enterprise');
    const store = new InventoryClient({ baseUrl, apiKey });
    const client: number[] = [];
    const plain: number[] = [];
    for (let run = 0; run < WARM_UP + RUNS; run++) {
      plain.push(await timeOf(() => plainUpdate(baseUrl, apiKey)));
      client.push(await timeOf(() => store.updateInventory(PET, 7)));
    }
    const added = median(client.slice(WARM_UP)) - median(plain.slice(WARM_UP));
    return [report('client: what it adds to a call, at a server that answers at once', added, ' ms')];
  } finally {
    await worker.terminate();
  }
}

async function plainUpdate(baseUrl: string, apiKey: string): Promise<unknown> {
  const response = await fetch(`${baseUrl}/inventory/${PET}`, {
    method: 'PATCH',
    headers: {
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': `"${crypto.randomUUID()}"`,
    },
    body: JSON.stringify({ quantity: 7 }),
  });
  return response.json();
}
