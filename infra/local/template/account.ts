import { exportNames, stages } from '../../stages.ts';

/** The AWS account and region that the local host stands in for. */
export const account = {
  id: '000000000000',
  region: 'us-east-1',
  partition: 'aws',
  urlSuffix: 'amazonaws.com',
} as const;

export const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::AccountId': account.id,
  'AWS::Region': account.region,
  'AWS::Partition': account.partition,
  'AWS::URLSuffix': account.urlSuffix,
};

/** What the other stacks of the stage export: where the reference page is. */
export const exportsOfStage = (pageOrigin: string): ReadonlyMap<string, string> =>
  new Map([[exportNames.pageOrigin(stages.staging.name), pageOrigin]]);

export function arn(service: string, resource: string): string {
  return `arn:${account.partition}:${service}:${account.region}:${account.id}:${resource}`;
}

/**
 * The credentials of everything on this machine. One pair for all: DynamoDB Local keeps a database per access key.
 */
export const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' } as const;
