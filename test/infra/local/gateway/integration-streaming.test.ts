import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { integrateStreaming } from '../../../../infra/local/gateway/integration.ts';
import { MAX_PAYLOAD_BYTES } from '../../../../infra/local/lambda/invocation.ts';
import { deployLogging } from '../../../support/logging-function.ts';
import { outcomeOf } from '../../../support/stream-outcome.ts';
import { answering, streaming, testFunctions } from '../../../support/test-functions.ts';

const deploy = testFunctions();

const metadata = { statusCode: 200, headers: { 'X-Id': 'ä' } };
const NUL = String.raw`\0`;
/** The delimiter in the source of a function. */
const delimiter = NUL.repeat(8);

const gatewayError = (type: string) => expect.objectContaining({ name: 'GatewayError', type });
const integrate = (source: string, timeoutMs = 10_000) => integrateStreaming(deploy(source), '{}', timeoutMs);

/** A function that has been loaded: with little time to answer, loading it would be all that it does. */
async function deployLoaded(steps: string) {
  const lambda = deploy(streaming(`if (event.load) return stream.end(); ${steps}`, metadata));
  await lambda.invoke('{"load":true}');
  return lambda;
}

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

describe('what a function streams', () => {
  test.each([
    ['at once', `stream.end('[1,2]');`],
    ['bit by bit', `await write(''); await write('[1,'); await write('2]'); stream.end();`],
  ])('is its metadata, and its body as it comes: %s', async (_, steps) => {
    const { metadata: head, body } = await integrate(streaming(steps, metadata));

    expect(JSON.parse(head)).toEqual(metadata);
    expect(await text(body)).toBe('[1,2]');
  });

  test('may have no body', async () => {
    const { metadata: head, body } = await integrate(streaming(`await write(''); stream.end();`, metadata));

    expect(JSON.parse(head)).toEqual(metadata);
    expect(await text(body)).toBe('');
  });

  test('may be split anywhere, within a letter of the metadata and within the delimiter too', async () => {
    const whole = `Buffer.from('{"a":"ä"}${delimiter}[1]')`;
    const { metadata: head, body } = await integrate(
      streaming(`for (const byte of ${whole}) await write(Buffer.of(byte)); stream.end();`),
    );

    expect(head).toBe('{"a":"ä"}');
    expect(await text(body)).toBe('[1]');
  });

  test('may have NUL bytes in its body, and any others', async () => {
    const bytes = Buffer.concat([Buffer.alloc(20), Buffer.from([255, 128]), Buffer.alloc(8)]);
    const steps = `stream.end(Buffer.from('${bytes.toString('base64')}', 'base64'));`;
    const { body } = await integrate(streaming(steps, metadata));

    expect(await buffer(body)).toEqual(bytes);
  });

  test('is there with the metadata: nobody waits for the body', async () => {
    const { body } = await integrate(streaming(`await write(''); await new Promise(() => {});`, metadata));

    expect(body.readableLength).toBe(0);
    body.destroy();
  });

  test('may be longer than a result that does not stream', async () => {
    const steps = 'for (let chunk = 0; chunk < 10; chunk++) await write(Buffer.alloc(1_000_000)); stream.end();';
    const { body } = await integrate(streaming(steps, metadata));

    expect((await buffer(body)).length).toBeGreaterThan(MAX_PAYLOAD_BYTES);
  });
});

describe('metadata', () => {
  /** Metadata and delimiter of so many bytes together, and a body. */
  const ofLength = (bytes: number) => `'"' + 'x'.repeat(${bytes - 2 - 8}) + '"${delimiter}[1]'`;

  test.each([
    ['at once', `stream.end(${ofLength(16 * 1024)});`],
    [
      'bit by bit',
      `for (const part of (${ofLength(16 * 1024)}).match(/.{1,5000}/gs)) await write(part); stream.end();`,
    ],
  ])('may have 16 KiB with the delimiter: %s', async (_, steps) => {
    const { metadata: head, body } = await integrate(streaming(steps));

    expect(head).toHaveLength(16 * 1024 - 8);
    expect(await text(body)).toBe('[1]');
  });

  test.each([
    ['too long', streaming(`stream.end(${ofLength(16 * 1024 + 1)});`)],
    ['too long, and comes bit by bit', streaming(`await write('x'.repeat(16_380)); stream.end('${delimiter}[1]');`)],
    ['without an end', streaming(`for (;;) await write('x'.repeat(1_000));`)],
    ['missing', streaming(`stream.end('[1,2]');`)],
    ['without all of its delimiter', streaming(`stream.end('{"statusCode":200}${NUL.repeat(7)}[1]');`)],
    ['all that there is', streaming(`stream.end('{"statusCode":200}');`)],
    ['missing, and so is the body', streaming('stream.end();')],
    ['never sent, since there is no body', streaming('stream.end();', metadata)],
    ['in the result of a handler that does not stream', answering({ statusCode: 200, body: '[1]' })],
  ])('is a 502 where it is %s', async (_, source) => {
    await expect(integrate(source)).rejects.toEqual(gatewayError('DEFAULT_5XX'));
  });

  test('that is malformed does not hold up the next event, however much comes after it', async () => {
    const lambda = deploy(
      streaming(`for (let chunk = 0; chunk < 20; chunk++) await write('x'.repeat(100_000)); stream.end();`),
    );
    const failures = Array.from({ length: 12 }, () =>
      integrateStreaming(lambda, '{}', 10_000).catch((error: unknown) => error),
    );

    expect(await Promise.all(failures)).toEqual(failures.map(() => gatewayError('DEFAULT_5XX')));
  });
});

describe('a function that fails', () => {
  test.each([
    ['throws', streaming(`throw new Error('no');`, metadata), 20],
    ['exits', streaming('process.exit(1);', metadata), 20],
    ['cannot be loaded', `throw new Error('no')`, 20],
    ['does not end its stream', streaming('', metadata), 0.3],
  ])('before its metadata is a 502: %s', async (_, source, timeoutSeconds) => {
    const lambda = deploy(source, { timeoutSeconds });

    await expect(integrateStreaming(lambda, '{}', 10_000)).rejects.toEqual(gatewayError('DEFAULT_5XX'));
  });

  test.each([
    ['throws', `throw new Error('no');`, 20],
    ['exits', 'process.exit(1);', 20],
    ['runs out of its time', 'await new Promise(() => {});', 0.3],
  ])('after its metadata has its body fail: %s', async (_, steps, timeoutSeconds) => {
    const lambda = deploy(streaming(`await write('[1,'); ${steps}`, metadata), { timeoutSeconds });
    const { body } = await integrateStreaming(lambda, '{}', 10_000);

    expect(await outcomeOf(body)).toEqual({
      given: expect.stringMatching(/^(\[1,)?$/),
      error: expect.objectContaining({ name: 'FunctionError' }),
    });
  });

  test('because the event is too long is a 413', async () => {
    const event = JSON.stringify('x'.repeat(MAX_PAYLOAD_BYTES));

    await expect(integrateStreaming(deploy(streaming('')), event, 10_000)).rejects.toEqual(
      gatewayError('REQUEST_TOO_LARGE'),
    );
  });
});

describe('an integration that streams and outlasts its time-out', () => {
  test('is a 504 before the metadata', async () => {
    await expect(integrate(streaming('await new Promise(() => {});', metadata), 100)).rejects.toEqual(
      gatewayError('INTEGRATION_TIMEOUT'),
    );
  });

  test.each([
    ['while its function does nothing', 'await new Promise(() => {});'],
    ['while its function goes on and on', `for (;;) { await write('1,'); await sleep(10); }`],
  ])('has its body fail after the metadata: %s', async (_, steps) => {
    const { body } = await integrateStreaming(await deployLoaded(`await write('[1,'); ${steps}`), '{}', 300);

    expect(await outcomeOf(body)).toEqual({
      given: expect.stringMatching(/^(\[1,(1,)*)?$/),
      error: gatewayError('INTEGRATION_TIMEOUT'),
    });
  });

  test('has its body fail though nobody reads it', async () => {
    const lambda = await deployLoaded('await write(Buffer.alloc(1_000_000)); stream.end();');
    const { body } = await integrateStreaming(lambda, '{}', 300);

    expect((await outcomeOf(body, new Promise(() => undefined))).error).toEqual(gatewayError('INTEGRATION_TIMEOUT'));
  });

  test.each([
    ['before the metadata', `await sleep(300);`, ''],
    ['after the metadata', `await write(''); await sleep(300);`, ''],
  ])('lets its function run on to its end: %s', async (_, steps) => {
    const source = streaming(
      `${steps} for (let chunk = 0; chunk < 20; chunk++) await write(Buffer.alloc(100_000)); console.log('done.');
       stream.end();`,
      metadata,
    );
    const { lambda, logs } = deployLogging(deploy, source);
    await integrateStreaming(lambda, '{}', 100).catch(() => undefined);

    await expect(logs('done.')).resolves.toBeUndefined();
  });

  test('hides it when its function fails after all', async () => {
    const { lambda, logs } = deployLogging(deploy, streaming(`await sleep(300); throw new Error('late');`, metadata));
    const failure: unknown = await integrateStreaming(lambda, '{}', 100).catch((error: unknown) => error);
    await logs('late');
    await sleep(50);

    expect(failure).toEqual(gatewayError('INTEGRATION_TIMEOUT'));
  });

  test.each([
    ['is in time', `stream.end('[1]');`],
    ['fails in time', `throw new Error('no');`],
  ])('leaves no timer behind where it %s', async (_, steps) => {
    const lambda = deploy(streaming(steps, metadata));
    const before = timers();
    for (let event = 0; event < 20; event++) {
      const result = await integrateStreaming(lambda, '{}', 60_000).catch(() => undefined);
      if (result) await text(result.body);
    }
    await sleep(50);

    expect(timers()).toBeLessThan(before + 10);
  });
});
