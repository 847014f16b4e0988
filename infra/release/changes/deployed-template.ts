import { type CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { reasonOf } from '../../admin/admin-error.ts';
import { ReleaseError } from '../release-error.ts';
import { asTemplate, type StackIdentity, type Template } from './template.ts';

/**
 * The template that a stack was last deployed from.
 *
 * @returns undefined where the stack is not deployed
 * @throws ReleaseError where CloudFormation does not tell
 */
export async function deployedTemplate(
  client: CloudFormationClient,
  { name }: StackIdentity,
): Promise<Template | undefined> {
  const body = await templateBody(client, name);
  if (body === undefined) return undefined;
  const template = asTemplate(parse(body));
  if (template) return template;
  throw new ReleaseError(`The template of the stack ${name} is not the CDK's JSON: it was deployed by something else.`);
}

async function templateBody(client: CloudFormationClient, name: string): Promise<string | undefined> {
  try {
    const { TemplateBody = '' } = await client.send(new GetTemplateCommand({ StackName: name }));
    // A stack whose first change set was never carried out has none.
    return TemplateBody === '' ? undefined : TemplateBody;
  } catch (error) {
    if (error instanceof Error && error.name === 'ValidationError' && /does not exist/.test(error.message)) {
      return undefined;
    }
    throw new ReleaseError(
      `Cannot read the deployed template of ${name}: ${reasonOf(error)}. Check the AWS credentials and AWS_REGION, or compare with a folder: --against DIR.`,
    );
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
