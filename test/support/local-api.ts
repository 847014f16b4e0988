import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll } from '@jest/globals';
import { usagePlanOf } from '../../infra/local/issue-demo-keys.ts';
import { loadRestApi, type LoadedRestApi } from '../../infra/local/gateway/load-rest-api.ts';
import type { GatewayRequest } from '../../infra/local/gateway/messages.ts';
import { GatewayRecords } from '../../infra/local/gateway-records/gateway-records.ts';
import { applyTemplate } from '../../infra/local/gateway-records/template-records.ts';
import { LogGroups, type LogSink } from '../../infra/local/log-sink.ts';
import { LocalStack } from '../../infra/local/template/stack.ts';
import { CUSTOMER } from './authorizer-answers.ts';
import { anApiKey } from './gateway-records.ts';
import { aGatewayRequest } from './gateway-request.ts';
import { type EditableTemplate, ServiceTemplate } from './service-template.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { answering, type Deploy, streaming, testFunctions } from './test-functions.ts';

/** Id of the key whose value is {@link CUSTOMER}. */
export const CUSTOMER_ID = 'id-of-customer';

/** Sources of the functions in the template; each answers with its own name where a test sets none. */
export interface FunctionSources {
  readonly authorizer: string;
  /** Behind an integration that streams. */
  readonly listInventory?: string;
  readonly updateInventory?: string;
  readonly getPet?: string;
  readonly fallback?: string;
}

/** An answer with all of its body. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface LocalApi extends LoadedRestApi {
  readonly stack: LocalStack;
  /** They have a key on the Free plan: {@link CUSTOMER_ID}. */
  readonly records: GatewayRecords;
  /** The answer to {@link aGatewayRequest}; fails where its stream does. */
  answer(differences?: Partial<GatewayRequest>): Promise<WholeAnswer>;
  /** What the functions have written to their logs so far. */
  readonly functionLog: () => string;
  /** The lines of the access log so far; the API takes no more requests afterwards. */
  accessLog(): Promise<unknown[]>;
}

/** The service's template on the local gateway, with functions that a test writes. Call it where hooks may stand. */
export class LocalApis {
  readonly #template: ServiceTemplate;
  readonly #deploy: Deploy;
  readonly #folder: string;
  readonly #logGroups: LogGroups[] = [];

  constructor() {
    afterAll(() => Promise.all(this.#logGroups.map((logGroups) => logGroups.close())));
    this.#deploy = testFunctions();
    this.#folder = temporaryFolder();
    this.#template = new ServiceTemplate();
  }

  start(sources: FunctionSources, change: (template: EditableTemplate) => void = () => undefined): LocalApi {
    const stack = new LocalStack(this.#template.stackName, this.#template.with(change));
    const records = recordsOf(stack);
    const logFolder = path.join(this.#folder, `logs-${this.#logGroups.length}`);
    mkdirSync(logFolder);
    const logGroups = new LogGroups(logFolder);
    this.#logGroups.push(logGroups);
    let functionLog = '';
    const log: LogSink = (text) => (functionLog += text);
    const functions = new Map(
      stack.resources('AWS::Lambda::Function').flatMap(({ logicalId, ref }) => {
        const functionArn = stack.attribute(logicalId, 'Arn');
        const settings = { functionName: ref, functionArn, timeoutSeconds: 120, log };
        const lambda = this.#deploy(sourceOf(logicalId, sources), settings);
        const aliases = stack
          .resources('AWS::Lambda::Alias')
          .filter(({ properties }) => properties.FunctionName === ref);
        return [functionArn, ...aliases.map((alias) => alias.ref)].map((arn) => [arn, lambda] as const);
      }),
    );
    const loaded = loadRestApi(stack, functions, logGroups, records);
    const answer = async (differences?: Partial<GatewayRequest>): Promise<WholeAnswer> => {
      const { status, headers, body } = await loaded.restApi.answer(aGatewayRequest(differences));
      return {
        status,
        headers: Object.fromEntries(headers),
        body: Buffer.isBuffer(body) ? body : await buffer(body),
      };
    };
    const accessLog = async (): Promise<unknown[]> => {
      await logGroups.close();
      const [stage] = stack.resources('AWS::ApiGateway::Stage');
      const name = stage?.properties.AccessLogSetting?.DestinationArn.split(':').at(-1) ?? '';
      const lines = readFileSync(path.join(logFolder, `${name}.log`), 'utf8')
        .trimEnd()
        .split('\n');
      return lines.map((line): unknown => JSON.parse(line));
    };
    return { ...loaded, stack, records, answer, functionLog: () => functionLog, accessLog };
  }
}

function recordsOf(stack: LocalStack): GatewayRecords {
  const records = GatewayRecords.inMemory();
  applyTemplate(records, stack);
  const free = usagePlanOf(records, 'free');
  records.putApiKey(anApiKey({ id: CUSTOMER_ID, value: CUSTOMER }));
  if (free) records.putOnPlan(free.id, CUSTOMER_ID);
  return records;
}

const named = (name: string): string => answering({ statusCode: 200, body: JSON.stringify(name) });
const namedInStream = (name: string): string => streaming(`stream.end('"${name}"');`, { statusCode: 200 });

function sourceOf(logicalId: string, sources: FunctionSources): string {
  if (logicalId.startsWith('FunctionsAuthorizer')) return sources.authorizer;
  if (logicalId.startsWith('FunctionsListInventory')) return sources.listInventory ?? namedInStream('list');
  if (logicalId.startsWith('FunctionsListOrders')) return namedInStream('orders');
  if (logicalId.startsWith('FunctionsUpdateInventory')) return sources.updateInventory ?? named('update');
  if (logicalId.startsWith('FunctionsGetPet')) return sources.getPet ?? named('pet');
  return sources.fallback ?? named('fallback');
}
