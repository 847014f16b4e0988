/** What a caller has to know of a local host to use it in place of AWS. */

/** The AWS account and region that the local host stands in for. */
export const account = {
  id: '000000000000',
  region: 'us-east-1',
  partition: 'aws',
  urlSuffix: 'amazonaws.com',
} as const;

/**
 * The credentials of everything on this machine. One pair for all: DynamoDB Local keeps a database per access key.
 */
export const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' } as const;

/** Path at which the host serves tools the outputs of the stack, such as the name of a table. */
export const OUTPUTS_PATH = '/outputs.json';

export function arn(service: string, resource: string): string {
  return `arn:${account.partition}:${service}:${account.region}:${account.id}:${resource}`;
}
