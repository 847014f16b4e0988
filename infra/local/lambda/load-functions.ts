import { devNull } from 'node:os';
import { account, localCredentials } from '../../local-endpoint.ts';
import type { SynthesizedStack } from '../assembly.ts';
import type { Engine } from '../dynamodb/engine.ts';
import { HostError } from '../host-error.ts';
import type { Resource, ServedStack } from '../template/stack.ts';
import type { Log } from './function-thread.ts';
import type { FunctionSettings } from './invocation.ts';
import { type LambdaFunction, LambdaFunctions } from './lambda-functions.ts';
import { grantsOf } from './role-grants.ts';

/** The functions of a stack, each by the ARN of its alias: there is one version of each. */
export interface LoadedFunctions {
  readonly all: LambdaFunctions;
  readonly byArn: ReadonlyMap<string, LambdaFunction>;
}

/**
 * Loads the functions that have an alias: the others are about a deploy.
 *
 * @param gateway address of API Gateway's API
 * @throws HostError where the code of one is not there
 */
export function loadFunctions(
  stack: ServedStack,
  { assetFolders }: SynthesizedStack,
  engine: Engine,
  gateway: string,
  log: Log,
): LoadedFunctions {
  const aliases = stack.resources('AWS::Lambda::Alias');
  const settings = aliases.map(({ properties: { FunctionName } }): FunctionSettings => {
    const lambda = stack.find('AWS::Lambda::Function', FunctionName);
    const { Code, Handler, LoggingConfig, MemorySize, Timeout, Role } = lambda.properties;
    const codeFolder = assetFolders.get(Code.S3Key);
    if (codeFolder === undefined) throw new HostError(`Resource ${lambda.logicalId}: its code was not bundled`);
    const endpoints = {
      AWS_ENDPOINT_URL_API_GATEWAY: gateway,
      AWS_ENDPOINT_URL_DYNAMODB: engine.endpointFor(lambda.ref, grantsOf(Role, stack)).href,
    };
    return {
      codeFolder,
      handler: Handler,
      functionName: lambda.ref,
      functionArn: stack.attribute(lambda.logicalId, 'Arn'),
      memoryMegabytes: MemorySize,
      timeoutSeconds: Timeout,
      systemLogLevel: LoggingConfig.SystemLogLevel,
      logGroupName: LoggingConfig.LogGroup,
      variables: { ...variablesOf(lambda), ...endpoints },
    };
  });
  const all = new LambdaFunctions(settings, log);
  return { all, byArn: new Map(settings.map((each, at) => [aliases[at]?.ref ?? '', all.byName(each)])) };
}

/** The function's own variables, and of those that Lambda sets what clients of AWS read. */
function variablesOf({ ref, properties }: Resource<'AWS::Lambda::Function'>): Record<string, string> {
  return {
    ...properties.Environment.Variables,
    AWS_REGION: account.region,
    AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
    // No shared configuration of this machine.
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_LAMBDA_FUNCTION_NAME: ref,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(properties.MemorySize),
  };
}
