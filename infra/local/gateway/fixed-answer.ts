import * as v from 'valibot';
import { HostError } from '../host-error.ts';
import type { PropertiesOf } from '../template/resource-types/index.ts';
import type { GatewayAnswer } from './messages.ts';

type MockIntegration = Extract<PropertiesOf<'AWS::ApiGateway::Method'>, { AuthorizationType: 'NONE' }>['Integration'];

/** What the request template of a MOCK integration selects its answer with. */
const selectionSchema = v.pipe(v.string(), v.parseJson(), v.strictObject({ statusCode: v.number() }));

/** The answer of a MOCK integration, which has no body and only headers that are written out. */
export function fixedAnswer(integration: MockIntegration, logicalId: string): GatewayAnswer {
  const selection = v.safeParse(selectionSchema, integration.RequestTemplates['application/json']);
  const response = integration.IntegrationResponses.find(
    ({ StatusCode }) => selection.success && StatusCode === String(selection.output.statusCode),
  );
  if (!response) throw new HostError(`Resource ${logicalId}: the local host knows no answer of its MOCK integration`);
  const headers = Object.entries(response.ResponseParameters).map(([target, source]): [string, string] => {
    const header = /^method\.response\.header\.(.+)$/.exec(target)?.[1];
    const value = /^'([^']*)'$/.exec(source)?.[1];
    if (header !== undefined && value !== undefined) return [header, value];
    throw new HostError(`Resource ${logicalId}: the local host does not support ${target} (got ${source})`);
  });
  return { status: Number(response.StatusCode), headers, body: Buffer.alloc(0) };
}
