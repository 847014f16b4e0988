import { APIGatewayClient, GetAccountCommand } from '@aws-sdk/client-api-gateway';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { operations } from '../../shared/contract/operations.ts';
import { isNetworkError } from '../../shared/dynamodb.ts';
import { AdminError, reasonOf } from '../admin/admin-error.ts';
import type { StageSettings } from '../stages.ts';

/** An AWS that does not answer is given up soon. */
export const bounded = { requestHandler: { connectionTimeout: 3_000, socketTimeout: 10_000 }, maxAttempts: 2 };

export type Account = Awaited<ReturnType<typeof findAccount>>;

/** Where the credentials lead; the CDK gets the same region. @throws AdminError that says what is missing */
export async function findAccount() {
  const { AWS_DEFAULT_REGION: ofTheCli = 'not set' } = process.env;
  const region = await new STSClient().config.region().catch(() => ofTheCli);
  if (!/^[a-z]{2}(?:-[a-z]+)+-\d$/.test(region))
    throw new AdminError(`The region is ${region}. Set one of AWS, such as: export AWS_REGION=eu-central-1`);
  process.env['AWS_REGION'] = region;
  const sts = new STSClient(bounded);
  await sts.config.credentials().catch((error: unknown) => {
    const how = 'Set AWS_PROFILE (aws configure sso, aws sso login), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
    throw new AdminError(`There are no AWS credentials: ${reasonOf(error)}. ${how}, and run the same command again.`);
  });
  const { Account: id = '', Arn: user = '' } = await sts.send(new GetCallerIdentityCommand()).catch(explainSilence);
  return { id, region, user };
}

function explainSilence(error: unknown): never {
  if (!(error instanceof Error) || (!isNetworkError(error) && error.name !== 'TimeoutError')) throw error;
  throw new AdminError(`AWS does not answer: ${reasonOf(error)}. Check network, AWS_REGION and AWS_ENDPOINT_URL.`);
}

/** How many functions have to be free: Lambda sets none aside unless 100 stay for all others. */
export function neededAtOnce({ lists: { concurrency = 0 }, bulksAtOnce = 0 }: StageSettings): number {
  const setAside = concurrency * Object.keys(operations).filter((id) => id.startsWith('list')).length + bulksAtOnce;
  return setAside && setAside + 100;
}

/** @returns what the account lets through, as far as that can be read @throws AdminError where the deploy would fail */
export async function checkQuotas(settings: StageSettings): Promise<string> {
  const lambda = new LambdaClient(bounded).send(new GetAccountSettingsCommand());
  const functions = await lambda.then(({ AccountLimit }) => AccountLimit?.UnreservedConcurrentExecutions, unread);
  if (typeof functions === 'number' && functions < neededAtOnce(settings)) {
    const how = 'request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000';
    const what = `${functions} functions at once, and ${settings.name} needs ${neededAtOnce(settings)}`;
    throw new AdminError(`Lambda lets this account run ${what}. Ask for more: aws service-quotas ${how}`);
  }
  const gateway = new APIGatewayClient(bounded).send(new GetAccountCommand());
  const requests = await gateway.then(({ throttleSettings }) => throttleSettings?.rateLimit, unread);
  return `${functions} functions at once (a burst takes some 100), ${requests} requests a second.`;
}

const unread = (error: unknown): string => `an unknown number of (${reasonOf(error)})`;

/** Settings that are better decided before a stage that keeps its data has customers. */
export const openDecisions = ({ retainData, alarmTargets, budget, apiDomain }: StageSettings): string[] =>
  Object.entries({ alarmTargets: alarmTargets === 'nobody', budget: !budget, apiDomain: !apiDomain }).flatMap(
    ([setting, isOpen]) => (retainData && isOpen ? setting : []),
  );
