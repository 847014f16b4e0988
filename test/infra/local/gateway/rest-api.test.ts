import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { GatewayRecords } from '../../../../infra/local/control-plane/gateway-records.ts';
import { loadRestApi } from '../../../../infra/local/gateway/rest-api.ts';
import { ServedStack } from '../../../../infra/local/template/stack.ts';
import { type EditableTemplate, resourcesIn, ServiceTemplate } from '../../../support/service-template.ts';

const service = new ServiceTemplate();
const PERMISSION = 'AWS::Lambda::Permission';
const authorizerResult = {
  principalId: 'k1',
  policyDocument: { Statement: [{ Effect: 'Allow', Resource: '*' }] },
};

let notices = '';
beforeEach(() => {
  notices = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((line) => Boolean((notices += String(line))));
});
afterEach(() => void jest.restoreAllMocks());

/** The status of a request to adjust an entry, with changed permissions. */
async function statusWith(
  change: (permissions: [string, EditableTemplate['Resources'][string]][], all: EditableTemplate) => void,
) {
  const template = service.with((editable) => {
    change(resourcesIn(editable, PERMISSION), editable);
    for (const [, { Properties }] of resourcesIn(editable, 'AWS::ApiGateway::Method'))
      Properties.ApiKeyRequired = false;
  });
  const stack = new ServedStack(service.stackName, template);
  const byArn = new Map(stack.resources('AWS::Lambda::Alias').map(({ ref }) => [ref, lambdaNamed(ref)]));
  const api = loadRestApi(stack, byArn, new GatewayRecords());
  const { status } = await api.respond({
    id: 'r1',
    receivedAt: 0,
    method: 'POST',
    path: '/inventory/1/adjustments',
    query: '',
    headers: [],
    body: Buffer.alloc(0),
    bodyTooLarge: false,
    sourceIp: '127.0.0.1',
    protocol: 'HTTP/1.1',
  });
  return status;
}

const lambdaNamed = (ref: string) => ({
  name: ref,
  invoke: () => Promise.resolve(JSON.stringify(ref.includes('Authorizer') ? authorizerResult : { statusCode: 200 })),
  stream: () => {
    throw new Error('No streamed operation is called');
  },
});

const isOfAuthorizer = (id: string) => id.startsWith('FunctionsAuthorizer');
const isOfMethod = (id: string) => /POST.*adjustments/.test(id);

type Change = Parameters<typeof statusWith>[0];
const eachOf =
  (isChanged: (id: string) => boolean, properties: object): Change =>
  (permissions) => {
    for (const [id, { Properties }] of permissions) if (isChanged(id)) Object.assign(Properties, properties);
  };
const API = 'arn:aws:execute-api:*:*:*/*';

test.each<[string, Change]>([
  ['from the template', () => undefined],
  ['for every source', eachOf(isOfMethod, { SourceArn: undefined })],
  ['with another pattern', eachOf(isOfMethod, { SourceArn: `${API}/POST/inv*/adjustments` })],
])('a method is served if its function has the permission %s', async (_, change) => {
  expect(await statusWith(change)).toBe(200);
  expect(notices).toBe('');
});

test.each<[string, Change, number, RegExp]>([
  [
    'another path',
    eachOf(isOfMethod, { SourceArn: `${API}/pets/*` }),
    500,
    /FunctionsAdjustInventory.*\/v1\/POST\/inventory\/\*\/adjustments$/m,
  ],
  ['another HTTP method', eachOf(isOfMethod, { SourceArn: `${API}/GET/inventory/*` }), 500, /AdjustInventory/],
  ['another principal', eachOf(isOfMethod, { Principal: 'events.amazonaws.com' }), 500, /AdjustInventory/],
  [
    'a function without its alias',
    eachOf(isOfMethod, { FunctionName: 'staging-Inventory-FunctionsAdjustInventory' }),
    500,
    /AdjustInventory/,
  ],
  [
    'another authorizer',
    eachOf(isOfAuthorizer, { SourceArn: `${API}/authorizers/other` }),
    503,
    /FunctionsAuthorizer.*\/authorizers\//,
  ],
  [
    'nothing',
    (permissions, { Resources }) => {
      for (const [id] of permissions) delete Resources[id];
    },
    503,
    /FunctionsAuthorizer/,
  ],
])('a method fails, and the terminal says why, with a permission for %s', async (_, change, status, notice) => {
  expect(await statusWith(change)).toBe(status);
  expect(notices).toMatch(/^No AWS::Lambda::Permission allows apigateway.amazonaws.com to invoke /);
  expect(notices).toMatch(notice);
});
