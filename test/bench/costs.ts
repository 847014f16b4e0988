import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as model from '../../infra/costs/cost-model.ts';
import { createApp } from '../../infra/create-app.ts';
import { readAssembly } from '../../infra/local/assembly.ts';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { stageNames, stages } from '../../infra/stages.ts';
import { orderItem, petItem, stockItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { generateApiKey } from '../../shared/keys/api-key.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import { type Limits, planIds, plans } from '../../shared/keys/plans.ts';
import { countWrites } from '../support/recorded-calls.ts';
import { KeysTable } from '../support/tables.ts';
import { engineClient, manyPets } from './engine-client.ts';
import type { Figure } from './figure.ts';
import { MeasuredHost, type RequestKind } from './measured-host.ts';

const PETS = 10_000;
const PAGE = 100;
const MINUTE_MS = 60_000;

/**
 * What a million requests cost: capacity, time, log lines and bytes as measured through the whole host, at AWS's list
 * prices. The time is that of this machine, whose worker threads and engine are not Lambda's and DynamoDB's.
 */
export async function benchCosts(): Promise<Figure[]> {
  const assembly = mkdtempSync(join(tmpdir(), 'bench-costs-'));
  try {
    createApp(Object.values(stages), { outdir: assembly, referencePage: false }).synth();
    const { usages, figures } = await measureRequests(assembly);
    const fixed = stageNames.map((stage) => {
      const parts = model.fixedPartsOf(readAssembly(assembly, stage).template);
      const of = `${parts.alarmMetrics} alarm metrics, ${parts.dashboards} dashboards, ${parts.metrics} metrics, ${parts.webAcls} web ACLs with ${parts.webAclRules} rules, ${parts.kmsKeys} KMS keys`;
      return row(`by the month, ${stage}`, `${usd(model.fixedMonthly(parts))} (${of})`);
    });
    return [...figures, ...(await costsOfPlans(usages)), ...fixed];
  } finally {
    rmSync(assembly, { recursive: true });
  }
}

async function measureRequests(assembly: string): Promise<{ usages: model.MixedUsages; figures: Figure[] }> {
  const measured = await MeasuredHost.start(assembly);
  const figures: Figure[] = [];
  try {
    await load(engineClient(measured.engine), measured.host.outputs);
    const measure = async (kind: RequestKind): Promise<model.RequestUsage> => {
      const usage = await measured.measure(kind);
      figures.push(
        row(`${kind.name}: takes`, describeUsage(usage)),
        row(`${kind.name}: a million`, describeCosts(model.costPerMillion(usage))),
      );
      return usage;
    };
    const { business, free } = measured.host.keys;
    const answered = { key: business, status: 200, invocations: 2 };
    const patch = { method: 'PATCH', path: '/inventory/1', body: '{"quantity":5}', ...answered };
    const json = { 'Content-Type': 'application/json' };

    const update = await measure({ ...patch, name: 'update', headers: () => json });
    const onlyOnce = () => ({ ...json, 'Idempotency-Key': `"${crypto.randomUUID()}"` });
    await measure({ ...patch, name: 'update with Idempotency-Key', headers: onlyOnce });
    const pet = await measure({ ...answered, name: 'one pet', path: '/pets/1' });
    const page = await measure({ ...answered, name: `page of ${PAGE} pets`, path: `/inventory?limit=${PAGE}` });
    await measure({ ...answered, name: `page of ${PAGE} orders`, path: `/store/orders?limit=${PAGE}` });
    await measure({ ...answered, name: `list of ${number(PETS)} pets`, path: '/inventory' });
    const unknown = { path: '/inventory', key: generateApiKey(), status: 401, invocations: 1 };
    await measure({ ...unknown, name: 'refused: unknown key (401)' });
    await measured.measure({
      ...answered,
      name: 'up to the limit',
      path: '/pets/1',
      key: free,
      warmUp: 20,
      seconds: 25,
    });
    await measure({ name: 'refused: over the limit (429)', path: '/pets/1', key: free, status: 429, invocations: 2 });
    return { usages: { update, pet, page }, figures };
  } finally {
    await measured.close();
  }
}

async function load(client: DynamoDBDocumentClient, outputs: Readonly<Record<string, string>>): Promise<void> {
  const { StockTableName = '', PetsTableName = '', OrdersTableName = '' } = outputs;
  await writeItems(client, StockTableName, manyPets(PETS), stockItem);
  for (const { petId } of manyPets(1)) {
    const pet = { id: petId, name: 'Dalmatian', photoUrls: ['https://images.example.com/pets/1.jpg'] };
    await writeItems(client, PetsTableName, [pet], petItem);
  }
  const orders = manyPets(2 * PAGE).map(({ petId }) => {
    const shipDate = '2026-12-20T10:00:00Z';
    return { id: petId, petId, quantity: 1, shipDate, status: 'approved' as const, complete: false };
  });
  await writeItems(client, OrdersTableName, orders, orderItem);
  client.destroy();
}

/** The mix on each plan, with the writes that counting takes at its full use, evenly over the day. */
async function costsOfPlans(usages: model.MixedUsages): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const plan of planIds) {
    const limits = model.limitsOf(plan);
    const counting = await countingWrites(limits);
    const costs = model.costOfMix(usages, counting);
    const requests = limits.perDay * model.DAYS_A_MONTH;
    const month = (model.totalOf(costs) * requests) / 1_000_000;
    figures.push(
      row(`${plans[plan].title}: writes to count a request`, counting.toFixed(3)),
      row(`${plans[plan].title}: a million of the mix`, describeCosts(costs)),
      row(`${plans[plan].title}: a month at its full use, ${number(requests)} requests`, usd(month)),
    );
  }
  return figures;
}

/** Writes per request of a key whose requests of a day come evenly, one after the other; of at least 300 requests. */
async function countingWrites(limits: Limits): Promise<number> {
  const engine = await startEmbeddedEngine(undefined);
  const client = engineClient(engine.endpoint);
  const table = await KeysTable.create(client);
  const count = countWrites(client);
  const { keyHash } = await table.issue(limits);
  const limiters = Array.from(
    { length: Math.ceil(limits.perDay / 86_400 / 250) },
    () => new Limiter(client, table.name),
  );
  const perMinute = limits.perDay / 1_440;
  const requests = Math.max(300, perMinute);
  const start = Date.UTC(2025, 5, 15);
  for (let request = 0; request < requests; request++) {
    const now = start + Math.floor((request / perMinute) * MINUTE_MS);
    const verdict = await limiters[request % limiters.length]?.admit(keyHash, now);
    if (verdict?.kind !== 'admitted') throw new Error(`A request within the limits was ${verdict?.kind}`);
  }
  const writes = count.writes / requests;
  client.destroy();
  await engine.close();
  return writes;
}

const row = (what: string, measured: string): Figure => ({ what, measured, target: '–' });

function describeUsage(usage: model.RequestUsage): string {
  const { writeUnits, readUnits, invocations, billedMs, logBytes, answerBytes } = usage;
  return `${number(writeUnits)} writes, ${number(readUnits)} reads, ${number(invocations)} functions, ${billedMs.toFixed(1)} ms, ${number(logBytes)} bytes of logs, ${number(answerBytes)} bytes of answer`;
}

function describeCosts(costs: model.Costs): string {
  const { gateway, lambda, dynamodb, logs, tracing, firewall, traffic } = costs;
  const parts = { gateway, Lambda: lambda, DynamoDB: dynamodb, logs, tracing, firewall, traffic };
  const texts = Object.entries(parts).map(([name, part]) => `${name} ${part.toFixed(2)}`);
  return `${usd(model.totalOf(costs))} (${texts.join(', ')})`;
}

const usd = (value: number): string =>
  `${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })} USD`;
const number = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });
