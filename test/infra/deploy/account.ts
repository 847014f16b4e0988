import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { Outcome } from '../../support/admin-command.ts';
import { close, listen } from '../../support/listening.ts';
import { inventoryTemplate } from '../../support/service-template.ts';
import { called, deploy, forgetCalls } from './deploy-here.ts';

/** A list in a response of CloudFormation. */
const list = (name: string, members: Record<string, string>[]): string => {
  const texts = members.map((one) => Object.entries(one).map(([key, value]) => `<${key}>${value}</${key}>`));
  return `<${name}>${texts.map((fields) => `<member>${fields.join('')}</member>`).join('')}</${name}>`;
};
const pairs = (outputs: Record<string, string>): Record<string, string>[] =>
  Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));

export const staging = inventoryTemplate('staging');
export const made = { 'staging-Inventory': 'UPDATE_COMPLETE' };

interface Account {
  /** The stacks of the account, with their statuses. */
  stacks: Record<string, string>;
  /** The status of a stack once `cdk deploy` has run. */
  statusAfter?: string | undefined;
  template: object;
  outputs: Record<string, string>;
  /** The events of the stacks, the newest first. */
  events: Record<string, string>[];
  canceled: string[];
  /** When the tables were made that the stack has now and no commit here; the stack was updated at noon. */
  createdAt: string;
}

const initial = { template: staging, outputs: {}, events: [], statusAfter: undefined };

/** What the account has that AWS answers for. Each test begins with staging alone. */
export const account: Account = { ...initial, stacks: made, canceled: [], createdAt: '2026-11-20T11:00:00Z' };
beforeEach(() => {
  forgetCalls();
  Object.assign(account, initial, { stacks: made, canceled: [], createdAt: '2026-11-20T11:00:00Z' });
});

function reply(call: URLSearchParams): string | undefined {
  const { stacks, outputs, events, template, createdAt } = account;
  const [action, name] = [call.get('Action') ?? '', call.get('StackName') ?? ''];
  const isDeployed = called().some((line) => line.startsWith('cdk deploy'));
  const status = (isDeployed && account.statusAfter) || stacks[name];
  const results: Record<string, string | undefined> = {
    GetCallerIdentity: '<Account>111122223333</Account><Arn>arn:ann</Arn>',
    DescribeStacks:
      status &&
      `<Stacks><member><StackStatus>${status}</StackStatus><LastUpdatedTime>2026-11-20T12:00:00Z</LastUpdatedTime>${list('Outputs', pairs(outputs))}</member></Stacks>`,
    DescribeStackEvents: list('StackEvents', events),
    DescribeStackResource: `<StackResourceDetail><ResourceStatus>CREATE_COMPLETE</ResourceStatus><LastUpdatedTimestamp>${createdAt}</LastUpdatedTimestamp></StackResourceDetail>`,
    GetTemplate: `<TemplateBody>${JSON.stringify(template).replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</TemplateBody>`,
    CancelUpdateStack: stacks[name]?.includes('PROGRESS') ? '' : undefined,
  };
  if (action === 'CancelUpdateStack' && results[action] !== undefined) {
    account.canceled.push(name);
    account.stacks = { ...stacks, [name]: 'UPDATE_ROLLBACK_COMPLETE' };
  }
  const result = results[action];
  return result === undefined
    ? undefined
    : `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`;
}

function respond(response: ServerResponse, body: string): void {
  const call = new URLSearchParams(body);
  const missing = `<Code>ValidationError</Code><Message>Stack with id ${call.get('StackName')} does not exist</Message>`;
  const found = reply(call);
  response.writeHead(found === undefined ? 400 : 200, { 'Content-Type': 'text/xml' });
  response.end(found ?? `<ErrorResponse><Error>${missing}</Error></ErrorResponse>`);
}

const server = createServer((request, response) => {
  void text(request).then((body) => respond(response, body));
});
let origin: string;
beforeAll(async () => {
  origin = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(() => close(server));

/** `npm run deploy` with this account. */
export const onAws = (words: string[], env = {}): Promise<Outcome> =>
  deploy(words, { AWS_ENDPOINT_URL: origin, ...env });
