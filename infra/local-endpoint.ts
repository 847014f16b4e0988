import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/** What a caller needs to use a local server in place of AWS. */

/** The AWS account and region of the local server. */
export const account = {
  id: '000000000000',
  region: 'us-east-1',
  partition: 'aws',
  urlSuffix: 'amazonaws.com',
} as const;

/** One pair for all local endpoints: DynamoDB Local keeps a database per access key. */
export const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' } as const;

/** Settings of an AWS client for a local endpoint: all that it would otherwise read from this machine. */
export const localClient = {
  region: account.region,
  credentials: localCredentials,
  useFipsEndpoint: false,
  useDualstackEndpoint: false,
  accountIdEndpointMode: 'disabled',
  authSchemePreference: ['sigv4'],
  defaultsMode: 'standard',
  retryMode: 'standard',
  maxAttempts: 3,
  userAgentAppId: '',
} as const satisfies DynamoDBClientConfig;

/** Path of the stack's outputs for tools, such as the name of a table. */
export const OUTPUTS_PATH = '/outputs.json';

export function arn(service: string, resource: string): string {
  return `arn:${account.partition}:${service}:${account.region}:${account.id}:${resource}`;
}
