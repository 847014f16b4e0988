import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll } from '@jest/globals';
import {
  type FunctionSettings,
  type LambdaFunction,
  LambdaFunctions,
  type Log,
} from '../../../infra/local/lambda/lambda-functions.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

export interface TestFunctionSettings extends Partial<FunctionSettings> {
  readonly log?: Log;
}

/** A function in a worker thread of its own. */
export interface TestFunction extends LambdaFunction, Pick<LambdaFunctions, 'stop' | 'reload'> {
  readonly settings: FunctionSettings;
}

/** Makes a Lambda function of CommonJS source text. */
export type Deploy = (source: string, settings?: TestFunctionSettings) => TestFunction;

/** Lambda functions for the tests around it, stopped after them. Call it where hooks may stand: not in a test. */
export function testFunctions(): Deploy {
  const deployed: TestFunction[] = [];
  afterAll(() => Promise.all(deployed.map((lambda) => lambda.stop())));
  const directory = temporaryDirectory();

  return (source, settings = {}) => {
    const functionName = `function-${deployed.length}`;
    const codeDirectory = path.join(directory, functionName);
    mkdirSync(codeDirectory);
    writeFileSync(path.join(codeDirectory, 'function.cjs'), source);
    writeFileSync(path.join(codeDirectory, 'index.mjs'), lambdaModule);
    const lambda = runFunction({ codeDirectory, functionName, ...settings });
    deployed.push(lambda);
    return lambda;
  };
}

const lambdaModule = `import { createRequire } from 'node:module';
  export const { handler } = createRequire(import.meta.url)('./function.cjs');`;

/** Runs the function in a directory. */
export function runFunction({
  log = () => undefined,
  functionName = '',
  ...settings
}: TestFunctionSettings & Pick<FunctionSettings, 'codeDirectory'>): TestFunction {
  const all: FunctionSettings = {
    handler: 'index.handler',
    functionName,
    arn: `arn:aws:lambda:us-east-1:000000000000:function:${functionName}:live`,
    memoryMegabytes: 128,
    timeoutSeconds: 20,
    systemLogLevel: 'INFO',
    logGroupName: `${functionName}-logs`,
    variables: {},
    ...settings,
  };
  const functions = new LambdaFunctions([all], log);
  const [lambda] = functions.byArn.values();
  if (!lambda) throw new Error('There is one');
  return Object.assign(functions, lambda, { settings: all });
}

/** Source of a function that returns one value for every event. */
export const answering = (result: unknown): string => `exports.handler = async () => (${JSON.stringify(result)});`;

/**
 * Source of a function that streams its response.
 *
 * @param steps JavaScript: `await write(chunk)` ends once the chunk has been taken, `stream` is what it writes to
 * @param metadata goes ahead of what the steps write; without it they write all by themselves
 */
export function streaming(steps: string, metadata?: unknown): string {
  const from = metadata === undefined ? '' : `awslambda.HttpResponseStream.from(stream, ${JSON.stringify(metadata)});`;
  return `
    const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
    exports.handler = awslambda.streamifyResponse(async (event, stream, context) => {
      const write = (chunk) => new Promise((resolve) => void stream.write(chunk, resolve));
      ${from}
      ${steps}
    });`;
}
