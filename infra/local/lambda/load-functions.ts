import type { SynthesizedStack } from '../assembly.ts';
import { HostError } from '../host-error.ts';
import type { LogGroups } from '../log-sink.ts';
import type { ServedStack } from '../template/stack.ts';
import type { ExecutionEnvironment } from './execution-environment.ts';
import { LambdaFunction } from './lambda-function.ts';

/**
 * The functions of the stack by their ARN, and by those of their aliases: there is one version of each.
 *
 * @param endpoints variables by which every function finds the services of this host
 * @throws HostError where the code of one is not there
 */
export function loadFunctions(
  stack: ServedStack,
  { assetFolders, runtime }: SynthesizedStack,
  endpoints: Readonly<Record<string, string>>,
  logGroups: LogGroups,
): Map<string, LambdaFunction> {
  const environments = new Set<ExecutionEnvironment>();
  const aliases = stack.resources('AWS::Lambda::Alias');
  return new Map(
    stack.resources('AWS::Lambda::Function').flatMap(({ logicalId, ref, properties }) => {
      const codeFolder = assetFolders.get(properties.Code.S3Key);
      if (codeFolder === undefined) throw new HostError(`Resource ${logicalId}: its code was not bundled`);
      const settings = {
        codeFolder,
        runtime,
        handler: properties.Handler,
        functionName: ref,
        functionArn: stack.attribute(logicalId, 'Arn'),
        memoryMegabytes: properties.MemorySize,
        timeoutSeconds: properties.Timeout,
        systemLogLevel: properties.LoggingConfig.SystemLogLevel,
        logGroupName: properties.LoggingConfig.LogGroup,
        variables: { ...properties.Environment.Variables, ...endpoints },
      };
      const lambda = new LambdaFunction(settings, logGroups.sink(settings.logGroupName), environments);
      const ofThis = aliases.filter((alias) => alias.properties.FunctionName === ref);
      return [settings.functionArn, ...ofThis.map((alias) => alias.ref)].map((arn) => [arn, lambda] as const);
    }),
  );
}
