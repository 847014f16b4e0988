import { buffer } from 'node:stream/consumers';
import * as v from 'valibot';
import { noLimitContext } from '../../../shared/http/authorizer-context.ts';
import { templatePlanOf } from '../../../infra/local/issue-demo-keys.ts';
import { loadRestApi } from '../../../infra/local/gateway/load-rest-api.ts';
import type { GatewayRequest } from '../../../infra/local/gateway/messages.ts';
import type { RestApi } from '../../../infra/local/gateway/rest-api.ts';
import { GatewayRecords } from '../../../infra/local/account/gateway-records.ts';
import { applyTemplate } from '../../../infra/local/account/template-records.ts';
import { ServedStack } from '../../../infra/local/template/stack.ts';
import { anApiKey } from '../../support/gateway-records.ts';
import { admittedContext, aGatewayRequest } from '../../support/proxy-event.ts';
import { type EditableTemplate, ServiceTemplate } from '../../support/service-template.ts';
import { answering, type Deploy, streaming, testFunctions } from './test-functions.ts';

/** Sources of the functions in the template; each answers with something where a test sets none. */
export interface FunctionSources {
  readonly authorizer: string;
  /** Behind an integration that streams. */
  readonly listInventory?: string;
  readonly updateInventory?: string;
}

export interface LocalApi {
  readonly restApi: RestApi;
  /** They have a key on the Free plan, whose value is {@link CUSTOMER}. */
  readonly records: GatewayRecords;
  /** The answer to {@link aGatewayRequest}; fails where its stream does. */
  answer(differences?: Partial<GatewayRequest>): Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Buffer;
  }>;
}

/** The service's template on the local gateway, with functions that a test writes. Call it where hooks may stand. */
export class LocalApis {
  readonly #template: ServiceTemplate;
  readonly #deploy: Deploy;

  constructor() {
    this.#deploy = testFunctions();
    this.#template = new ServiceTemplate();
  }

  start(sources: FunctionSources, change: (template: EditableTemplate) => void = () => undefined): LocalApi {
    const stack = new ServedStack(this.#template.stackName, this.#template.with(change));
    const records = recordsOf(stack);
    const functions = new Map(
      stack.resources('AWS::Lambda::Alias').map((alias) => {
        const { logicalId } = stack.find('AWS::Lambda::Function', alias.text('FunctionName'));
        return [alias.ref, this.#deploy(sourceOf(logicalId, sources), { timeoutSeconds: 120 })] as const;
      }),
    );
    const restApi = loadRestApi(stack, functions, records);
    const answer = async (differences?: Partial<GatewayRequest>) => {
      const { status, headers, body } = await restApi.answer(aGatewayRequest(differences));
      return {
        status,
        headers: Object.fromEntries(headers),
        body: Buffer.isBuffer(body) ? body : await buffer(body),
      };
    };
    return { restApi, records, answer };
  }
}

function recordsOf(stack: ServedStack): GatewayRecords {
  const records = GatewayRecords.inMemory();
  applyTemplate(records, stack);
  const free = templatePlanOf(records, 'free');
  records.putApiKey(anApiKey({ id: 'k1', value: CUSTOMER }));
  if (free) records.putOnPlan(free.id, 'k1');
  return records;
}

/** A function of a list streams; any other answers at once. */
function sourceOf(logicalId: string, sources: FunctionSources): string {
  if (logicalId.startsWith('FunctionsAuthorizer')) return sources.authorizer;
  if (logicalId.startsWith('FunctionsListInventory') && sources.listInventory) return sources.listInventory;
  if (logicalId.startsWith('FunctionsUpdateInventory') && sources.updateInventory) return sources.updateInventory;
  return logicalId.startsWith('FunctionsList')
    ? streaming(`stream.end('"list"');`, { statusCode: 200 })
    : answering({ statusCode: 200, body: '"answer"' });
}

/** The usage identifier of {@link admission}. */
const CUSTOMER = 'a-customer';

const policyDocument = (Effect: 'Allow' | 'Deny') => ({
  Version: '2012-10-17',
  Statement: [{ Effect, Action: 'execute-api:Invoke', Resource: '*' }],
});

/** What an authorizer answers to let a request through. */
export const admission = {
  principalId: 'k1',
  policyDocument: policyDocument('Allow'),
  usageIdentifierKey: CUSTOMER,
  context: admittedContext,
};

/** What an authorizer answers to refuse a request. */
export const denial = {
  principalId: 'anonymous',
  policyDocument: policyDocument('Deny'),
  context: {
    code: 'API_KEY_MISSING',
    message: 'Send your key.',
    challenge: 'Bearer realm="r"',
    ...noLimitContext(aGatewayRequest().receivedAt),
  },
};

/** Source of an authorizer that lets every request through. */
export const admitting = answering(admission);

/** Changes a template: every function has so many milliseconds to answer the gateway. */
export function withTimeout(milliseconds: number): (template: EditableTemplate) => void {
  return ({ Resources }) => {
    for (const { Properties } of Object.values(Resources)) {
      const { Integration } = Properties;
      if (v.is(v.looseObject({ Type: v.literal('AWS_PROXY') }), Integration))
        Integration.TimeoutInMillis = milliseconds;
    }
  };
}
