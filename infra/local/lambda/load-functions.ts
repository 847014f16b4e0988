import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import * as v from 'valibot';
import { account, localCredentials } from '../../local-endpoint.ts';
import type { SynthesizedStack } from '../assembly/assemble.ts';
import type { Engine } from '../dynamodb/engine.ts';
import { grantsOf } from '../iam.ts';
import { LocalServerError } from '../local-server-error.ts';
import type { ServedStack } from '../template/stack.ts';
import { type FunctionSettings, LambdaFunctions, type Log } from './lambda-functions.ts';

/**
 * Loads the functions with an alias: the others are only for deployments.
 *
 * @param gateway address of API Gateway's API
 * @throws LocalServerError if the code of one is missing
 */
export function loadFunctions(
  stack: ServedStack,
  synthesized: SynthesizedStack,
  engine: Engine,
  gateway: string,
  log: Log,
): LambdaFunctions {
  const settings = stack.resources('AWS::Lambda::Alias').map((alias): FunctionSettings => {
    const lambda = stack.find('AWS::Lambda::Function', alias.text('FunctionName'));
    const codeDirectory = synthesized.codeDirectory(lambda.text('Code.S3Key'));
    if (!existsSync(codeDirectory))
      throw new LocalServerError(`Resource ${lambda.logicalId}: its code was not bundled`);
    lambda.read('Layers', v.undefined());
    const memoryMegabytes = lambda.read('MemorySize', v.number());
    return {
      codeDirectory,
      handler: lambda.text('Handler'),
      functionName: lambda.ref,
      arn: alias.ref,
      memoryMegabytes,
      timeoutSeconds: lambda.read('Timeout', v.number()),
      systemLogLevel: lambda.text('LoggingConfig.SystemLogLevel'),
      logGroupName: lambda.text('LoggingConfig.LogGroup'),
      variables: {
        ...lambda.texts('Environment.Variables'),
        AWS_REGION: account.region,
        AWS_LAMBDA_FUNCTION_NAME: lambda.ref,
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
        AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
        // Ignores this machine's shared AWS configuration.
        AWS_CONFIG_FILE: devNull,
        AWS_SHARED_CREDENTIALS_FILE: devNull,
        AWS_ENDPOINT_URL_API_GATEWAY: gateway,
        AWS_ENDPOINT_URL_DYNAMODB: engine.endpointFor(lambda.ref, grantsOf(lambda.text('Role'), stack)).href,
      },
    };
  });
  return new LambdaFunctions(settings, log);
}
