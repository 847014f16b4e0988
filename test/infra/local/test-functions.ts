import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach } from '@jest/globals';
import { type FunctionSettings, LambdaFunctions, type Log } from '../../../infra/local/lambda/lambda-functions.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { HANG_MS } from '../../support/until.ts';

const directory = temporaryDirectory();
const running: LambdaFunctions[] = [];
afterEach(() => Promise.all(running.splice(0).map((functions) => functions.stop())));

/** Runs functions in one worker thread until the test ends. */
export function runTogether(settings: readonly FunctionSettings[], log: Log = () => undefined): LambdaFunctions {
  const functions = new LambdaFunctions(settings, log);
  running.push(functions);
  return functions;
}

/** Runs the function in a directory, in a worker thread of its own, until the test ends. */
export function runFunction(codeDirectory: string, differences: Partial<FunctionSettings> = {}) {
  const { functionName = path.basename(codeDirectory) } = differences;
  const settings: FunctionSettings = {
    codeDirectory,
    handler: 'index.handler',
    functionName,
    arn: `arn:aws:lambda:us-east-1:000000000000:function:${functionName}:live`,
    memoryMegabytes: 128,
    timeoutSeconds: HANG_MS / 1_000,
    systemLogLevel: 'INFO',
    logGroupName: `${functionName}-logs`,
    variables: {},
    ...differences,
  };
  let logged = '';
  const functions = runTogether([settings], (_, text) => void (logged += text));
  const [lambda] = functions.byArn.values();
  if (!lambda) throw new Error('There is one');
  return Object.assign(functions, lambda, { settings, log: () => logged });
}

export type TestFunction = ReturnType<typeof runFunction>;

let deployed = 0;

/** Makes a Lambda function of CommonJS source text, and runs it until the test ends. */
export function deploy(source: string, differences?: Partial<FunctionSettings>): TestFunction {
  const codeDirectory = path.join(directory, `function-${deployed++}`);
  mkdirSync(codeDirectory);
  writeFileSync(path.join(codeDirectory, 'function.cjs'), source);
  writeFileSync(
    path.join(codeDirectory, 'index.mjs'),
    `import { createRequire } from 'node:module';
    export const { handler } = createRequire(import.meta.url)('./function.cjs');`,
  );
  return runFunction(codeDirectory, differences);
}

/**
 * Source of a function that streams its response.
 *
 * @param steps JavaScript: `await write(chunk)` ends once the chunk has been taken, `stream` is what it writes to
 * @param metadata goes ahead of what the steps write; without it they write all by themselves
 */
export function streaming(steps: string, metadata?: unknown): string {
  const from = metadata === undefined ? '' : `awslambda.HttpResponseStream.from(stream, ${JSON.stringify(metadata)});`;
  return `exports.handler = awslambda.streamifyResponse(async (event, stream, context) => {
    const write = (chunk) => new Promise((resolve) => void stream.write(chunk, resolve));
    ${from}
    ${steps}
  });`;
}
