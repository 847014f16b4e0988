import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll } from '@jest/globals';
import { loadRestApi, type LoadedRestApi } from '../../infra/local/gateway/load-rest-api.ts';
import { GatewayRecords } from '../../infra/local/gateway-records/gateway-records.ts';
import { applyTemplate } from '../../infra/local/gateway-records/template-records.ts';
import { LogGroups } from '../../infra/local/log-sink.ts';
import { LocalStack } from '../../infra/local/template/stack.ts';
import { type EditableTemplate, ServiceTemplate } from './service-template.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { answering, type Deploy, testFunctions } from './test-functions.ts';

/** Sources of the functions in the template; each answers with its own name where a test sets none. */
export interface FunctionSources {
  readonly authorizer: string;
  readonly listInventory?: string;
  readonly updateInventory?: string;
  readonly fallback?: string;
}

export interface LocalApi extends LoadedRestApi {
  readonly stack: LocalStack;
  readonly records: GatewayRecords;
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
    const records = GatewayRecords.inMemory();
    applyTemplate(records, stack);
    const logFolder = path.join(this.#folder, `logs-${this.#logGroups.length}`);
    mkdirSync(logFolder);
    const logGroups = new LogGroups(logFolder);
    this.#logGroups.push(logGroups);
    const functions = new Map(
      stack.resources('AWS::Lambda::Function').map(({ logicalId, ref }) => {
        const functionArn = stack.attribute(logicalId, 'Arn');
        return [functionArn, this.#deploy(sourceOf(logicalId, sources), { functionName: ref, functionArn })];
      }),
    );
    const accessLog = async (): Promise<unknown[]> => {
      await logGroups.close();
      const [stage] = stack.resources('AWS::ApiGateway::Stage');
      const name = stage?.properties.AccessLogSetting?.DestinationArn.split(':').at(-1) ?? '';
      const lines = readFileSync(path.join(logFolder, `${name}.log`), 'utf8')
        .trimEnd()
        .split('\n');
      return lines.map((line): unknown => JSON.parse(line));
    };
    return { ...loadRestApi(stack, functions, logGroups, records), stack, records, accessLog };
  }
}

const named = (name: string): string => answering({ statusCode: 200, body: JSON.stringify(name) });

function sourceOf(logicalId: string, sources: FunctionSources): string {
  if (logicalId.startsWith('FunctionsAuthorizer')) return sources.authorizer;
  if (logicalId.startsWith('FunctionsListInventory')) return sources.listInventory ?? named('list');
  if (logicalId.startsWith('FunctionsUpdateInventory')) return sources.updateInventory ?? named('update');
  return sources.fallback ?? named('fallback');
}
