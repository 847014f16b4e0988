import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, jest, test } from '@jest/globals';
import { GatewayRecords, type UsagePlan } from '../../../infra/local/control-plane/gateway-records.ts';
import { callAuthorizer } from '../../../infra/local/gateway/call-authorizer.ts';
import { ContextVariables } from '../../../infra/local/gateway/gateway-responses.ts';
import { integrate, integrateStreaming } from '../../../infra/local/gateway/integration.ts';
import { loadRestApi } from '../../../infra/local/gateway/rest-api.ts';
import { createRouter } from '../../../infra/local/gateway/router.ts';
import { usageMeter } from '../../../infra/local/gateway/usage-meter.ts';
import { ServedStack } from '../../../infra/local/template/stack.ts';
import { anApiKey, apiStage, aUsagePlan } from '../../support/gateway-records.ts';
import { recordFaults } from '../../support/request-lines.ts';
import { resourcesIn, ServiceTemplate } from '../../support/service-template.ts';
import { stopClock } from '../../support/clocks.ts';
import { HANG_MS } from '../../support/until.ts';
import { deploy, streaming } from './test-functions.ts';

const faults = recordFaults();
const notices = (): string => faults().join('');

const gatewayError = (type: string) => expect.objectContaining({ name: 'GatewayError', type });

/** Each resource is its own target. */
const routerOf = (...routes: readonly string[]) =>
  createRouter(
    routes.map((route) => {
      const [method = '', path = ''] = route.split(' ');
      return { method, path, target: path };
    }),
  );

describe('the router', () => {
  const onB = ['GET /a/{name}', 'GET /a/b'];
  const router = routerOf('ANY /{path+}', 'GET /a/{rest+}', ...onB, 'GET /c/b/d', 'GET /c/{name}/c', 'GET /');

  test.each([
    ['/', '/', {}],
    ['/a/b', '/a/b', {}],
    ['/a/x', '/a/{name}', { name: 'x' }],
    ['/a/x/y', '/a/{rest+}', { rest: 'x/y' }],
    // A resource that leads nowhere is left again.
    ['/c/b/c', '/c/{name}/c', { name: 'b' }],
    ['/c/b/e', '/{path+}', { path: 'c/b/e' }],
    // Each part is given as it was sent.
    ['/c/1%2F2/c', '/c/{name}/c', { name: '1%2F2' }],
    ['/c/%zz/c', '/c/{name}/c', { name: '%zz' }],
    // Slashes count, but those before the first part, and a last one of what a greedy parameter takes.
    ['//a/b', '/a/b', {}],
    ['/c/b/d/', '/{path+}', { path: 'c/b/d' }],
    ['/x//y/', '/{path+}', { path: 'x//y' }],
  ])('prefers literal parts to parameters, and parameters to greedy ones: %s is %s', (path, target, pathParameters) => {
    expect(router('GET', path)).toEqual({ target, resourcePath: target, pathParameters });
  });

  test('falls back only to a greedy resource if the matching resource lacks the method', () => {
    expect(router('POST', '/a/b')).toMatchObject({ resourcePath: '/{path+}', pathParameters: { path: 'a/b' } });
    expect(routerOf('POST /a/{name}', 'GET /a/b')('POST', '/a/b')).toBeUndefined();
  });
});

/** A plan with a key. @returns the result of requests at one time: the id of the key, or the error's type */
function planWith(settings: Partial<UsagePlan>): (time: number, count: number, method?: string) => unknown[] {
  const records = new GatewayRecords();
  const meter = usageMeter(records);
  records.putUsagePlan(aUsagePlan(settings));
  records.putApiKey(anApiKey({ value: 'value-1', planId: 'plan' }));
  const outcomeAt = (time: number, method: string): unknown => {
    try {
      return meter('value-1', method, time);
    } catch (error) {
      return Object(error).type;
    }
  };
  return (time, count, method = '/a/GET') => Array.from({ length: count }, () => outcomeAt(time, method));
}

describe('a usage plan', () => {
  const NOW = Date.UTC(2026, 10, 21);

  test.each([
    [499, 0],
    [1_000, 2],
  ])('refills its throttle at its rate: %d ms after the burst it admits %d', (elapsed, admitted) => {
    const outcomesAt = planWith({ throttle: { rateLimit: 2, burstLimit: 5 } });
    outcomesAt(NOW, 5);

    expect(outcomesAt(NOW + elapsed, 6).filter((outcome) => outcome === 'k1')).toHaveLength(admitted);
  });

  test('throttles a method of its stage apart from the others', () => {
    const throttle = { '/a/PATCH': { rateLimit: 1, burstLimit: 2 } };
    const outcomesAt = planWith({ apiStages: [{ ...apiStage, throttle }] });

    expect(outcomesAt(NOW, 3, '/a/PATCH')).toEqual(['k1', 'k1', 'THROTTLED']);
    expect(outcomesAt(NOW, 3, '/a/GET')).toEqual(['k1', 'k1', 'k1']);
    expect(outcomesAt(NOW + 1_000, 2, '/a/PATCH')).toEqual(['k1', 'THROTTLED']);
  });
});

const resultWith = (Effect: string, Resource: string): string => {
  const policyDocument = { Version: '2012-10-17', Statement: [{ Effect, Action: 'execute-api:Invoke', Resource }] };
  return JSON.stringify({ principalId: 'k1', policyDocument, context: { limit: 0 } });
};

describe('an authorizer', () => {
  const STAGE_ARN = 'arn:aws:execute-api:us-east-1:000000000000:a1b2c3/v1';

  /** Calls an authorizer for `GET /inventory`. */
  const call = (result: Promise<string>, variables = new ContextVariables()) =>
    callAuthorizer({ name: 'authorizer', invoke: () => result }, {}, `${STAGE_ARN}/GET/inventory`, variables);

  test.each([
    ['denies the request', resultWith('Deny', `${STAGE_ARN}/*`)],
    ['allows another method', resultWith('Allow', `${STAGE_ARN}/PATCH/*`)],
  ])('that %s causes ACCESS_DENIED, and the gateway response has its context', async (_, result) => {
    const variables = new ContextVariables();

    await expect(call(Promise.resolve(result), variables)).rejects.toEqual(gatewayError('ACCESS_DENIED'));
    expect([...variables]).toEqual([
      ['authorizer.limit', '0'],
      ['authorizer.principalId', 'k1'],
    ]);
  });

  test('that does not respond within 29 seconds causes INTEGRATION_TIMEOUT', async () => {
    jest.useFakeTimers();
    const called = call(new Promise(() => undefined));
    jest.advanceTimersByTime(29_000);
    jest.useRealTimers();

    await expect(called).rejects.toEqual(gatewayError('INTEGRATION_TIMEOUT'));
  });

  test.each(['', '{"principalId":"k1"}'])('that returns %j causes a configuration error', async (result) => {
    await expect(call(Promise.resolve(result))).rejects.toEqual(gatewayError('AUTHORIZER_CONFIGURATION_ERROR'));
    expect(notices()).toMatch(/^authorizer returned a malformed authorizer response: /);
  });
});

const answering = (result: unknown): string => `exports.handler = async () => (${JSON.stringify(result)});`;

const responseTo = async (source: string) => {
  const { body, ...head } = await integrateStreaming(deploy(source), '{}', HANG_MS);
  return { ...head, body: await text(body) };
};

describe('a function', () => {
  const metadata = { statusCode: 200, headers: { 'X-Id': 'ä' } };
  const json = ['Content-Type', 'application/json'];

  test('that streams sends its status and headers in the metadata', async () => {
    const source = streaming(`await write('[1,'); await write(Buffer.from('2]')); stream.end();`, metadata);

    expect(await responseTo(source)).toEqual({ status: 200, headers: [json, ['X-Id', 'ä']], body: '[1,2]' });
  });

  test.each([
    ['without metadata', streaming(`stream.end('[1]');`)],
    ['with metadata but no body', streaming('stream.end();', metadata)],
    ['from a function that does not stream', answering(metadata)],
  ])('whose response is expected as a stream, but comes %s, causes a 502', async (_, source) => {
    await expect(responseTo(source)).rejects.toEqual(gatewayError('DEFAULT_5XX'));
  });

  test('may return headers, also another type', async () => {
    const result = { statusCode: 200, headers: { 'X-One': 1, 'content-type': 'text/plain' } };
    const response = await integrate(deploy(answering(result)), '{}', HANG_MS);

    expect(response.headers).toEqual([
      ['content-type', 'text/plain'],
      ['X-One', '1'],
    ]);
  });

  test.each([
    [{ statusCode: 600 }, 'statusCode must be <=599'],
    [{ statusCode: 200, body: { quantity: 5 } }, 'body must be string'],
    [{ statusCode: 200, quantity: 5 }, 'quantity must be never'],
  ])('that returns %j causes a 502, and the terminal says why: %s', async (result, reason) => {
    const lambda = deploy(answering(result));

    await expect(integrate(lambda, '{}', HANG_MS)).rejects.toEqual(gatewayError('DEFAULT_5XX'));
    expect(notices()).toBe(`${lambda.name} returned a malformed Lambda proxy response: ${reason}\n`);
  });

  test('that throws causes a 502', async () => {
    const lambda = deploy(`exports.handler = async () => { throw new Error('secret'); };`);
    await expect(integrate(lambda, '{}', HANG_MS)).rejects.toEqual(gatewayError('DEFAULT_5XX'));
  });

  test.each([
    ['that never returns', integrate, 'exports.handler = () => new Promise(() => {});'],
    ['that never begins to stream', integrateStreaming, streaming('await new Promise(() => {});')],
  ])('%s causes INTEGRATION_TIMEOUT', async (_, call, source) => {
    await expect(call(deploy(source), '{}', 100)).rejects.toEqual(gatewayError('INTEGRATION_TIMEOUT'));
  });

  test('whose streamed body outlasts the timeout causes INTEGRATION_TIMEOUT', async () => {
    stopClock();
    const { body } = await integrateStreaming(deploy(streaming(`await write('[1,');`, metadata)), '{}', 300);
    jest.advanceTimersByTime(300);
    jest.useRealTimers();

    await expect(text(body)).rejects.toEqual(gatewayError('INTEGRATION_TIMEOUT'));
  });
});

const lambdaNamed = (name: string) => {
  const result = name.includes('Authorizer') ? resultWith('Allow', '*') : '{"statusCode":200}';
  return { name, invoke: () => Promise.resolve(result), stream: () => Readable.from([]) };
};

describe('a method', () => {
  const service = new ServiceTemplate();

  /** The status of a request to adjust an entry, with other properties of the permissions with such ids. */
  async function statusWith(permissions: RegExp, properties: object): Promise<number> {
    const template = service.with((editable) => {
      for (const [id, { Properties }] of resourcesIn(editable, 'AWS::Lambda::Permission'))
        if (permissions.test(id)) Object.assign(Properties, properties);
      for (const [, { Properties }] of resourcesIn(editable, 'AWS::ApiGateway::Method'))
        Properties.ApiKeyRequired = false;
    });
    const stack = new ServedStack(service.stackName, template);
    const byArn = new Map(stack.resources('AWS::Lambda::Alias').map(({ ref }) => [ref, lambdaNamed(ref)]));
    const { status } = await loadRestApi(stack, byArn, new GatewayRecords()).respond({
      id: 'r1',
      receivedAt: 0,
      method: 'POST',
      path: '/inventory/1/adjustments',
      query: '',
      headers: [],
      body: Buffer.alloc(0),
      bodyTooLarge: false,
      sourceIp: '127.0.0.1',
    });
    return status;
  }

  const API = 'arn:aws:execute-api:*:*:*/*';
  const OF_API = /ApiScoped.*AdjustInventory/;
  const withoutAlias = 'staging-Inventory-FunctionsAdjustInventory';

  test('is served if a permission is for all of the API', async () => {
    expect(await statusWith(OF_API, { SourceArn: API })).toBe(200);
    expect(notices()).toBe('');
  });

  test.each<[string, RegExp, object, number, string]>([
    ['one method', OF_API, { SourceArn: `${API}/POST/inventory/*` }, 500, 'AdjustInventory.*/\\*/\\*/\\*$'],
    ['another principal', OF_API, { Principal: 'events.amazonaws.com' }, 500, 'AdjustInventory'],
    ['a function without its alias', OF_API, { FunctionName: withoutAlias }, 500, 'AdjustInventory'],
    ['another authorizer', /Authorizer/, { SourceArn: `${API}/authorizers/other` }, 503, 'Authorizer.*/authorizers/'],
  ])('fails if a permission is for %s, and the terminal says why', async (_, ids, properties, status, notice) => {
    expect(await statusWith(ids, properties)).toBe(status);
    expect(notices()).toMatch(
      new RegExp(`^No AWS::Lambda::Permission allows apigateway.amazonaws.com to invoke \\S*Functions${notice}`, 'm'),
    );
  });
});
