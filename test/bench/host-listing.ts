import * as v from 'valibot';
import { demoKey } from '../../infra/demo-keys.ts';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { OUTPUTS_PATH } from '../../infra/local-endpoint.ts';
import { writeItems } from '../../infra/write-items.ts';
import { stockItem } from '../../shared/stores/stock-store.ts';
import { documentsAt } from '../support/local-host.ts';
import { atMost, type Figure, median, progress, timeOf } from './figure.ts';
import { bareClient, manyPets, queryAll, sizes, TURNS } from './listing.ts';
import { RunningHost } from './running-host.ts';

const outputsSchema = v.object({ StockTableName: v.string() });

/** The whole list of a large store through the local host, beside a bare loop of Queries at the same engine, in turn. */
export async function benchHostListing(): Promise<Figure[]> {
  const engine = await startEmbeddedEngine(undefined);
  const host = await RunningHost.start(['--dynamodb', engine.endpoint.href, '--no-sample-data']);
  const client = bareClient(engine.endpoint);
  try {
    const outputs = await fetch(new URL(OUTPUTS_PATH, host.baseUrl));
    const { StockTableName: table } = v.parse(outputsSchema, await outputs.json());
    progress(`filling a store with ${sizes.large} pets`);
    const documents = documentsAt(engine.endpoint);
    await writeItems(documents, table, manyPets(sizes.large), stockItem);
    documents.destroy();
    const ratios: number[] = [];
    for (let turn = 0; turn <= TURNS; turn++) {
      progress(`turn ${turn} of ${TURNS}`);
      const listed = await timeOf(() => listAll(host.baseUrl));
      ratios.push(listed / (await timeOf(() => queryAll(client, table))));
    }
    const what = `host: list of ${sizes.large.toLocaleString('en')} pets: time ÷ bare Query loop`;
    return [atMost(what, median(ratios.slice(1)), 1.1)];
  } finally {
    client.destroy();
    await host.stop();
    await engine.close();
  }
}

async function listAll(baseUrl: string): Promise<void> {
  const headers = { authorization: `Bearer ${demoKey('enterprise')}` };
  const { status, body } = await fetch(`${baseUrl}/inventory`, { headers });
  if (status !== 200 || body === null) throw new Error(`The list was answered ${status}`);
  for await (const _ of body) continue;
}
