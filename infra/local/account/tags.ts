import * as v from 'valibot';
import { account } from '../../local-endpoint.ts';
import { type Tags, tagsSchema } from './records.ts';
import { type Call, type Gateway, notFound, type Operation, parseBody } from './call.ts';

const tagBodySchema = v.strictObject({ tags: tagsSchema });

/** Clients send the slashes of an ARN encoded; people who type one may not. */
const path = '/tags/:resourceArn{.+}';

export const tagOperations: readonly Operation[] = [
  { name: 'GetTags', route: `GET ${path}`, run: (gateway, call) => ({ tags: taggedResource(gateway, call).tags }) },
  { name: 'TagResource', route: `PUT ${path}`, run: tagResource },
  { name: 'UntagResource', route: `DELETE ${path}`, query: ['tagKeys'], status: 204, run: untagResource },
];

interface TaggedResource {
  readonly tags: Tags;
  readonly setTags: (tags: Tags) => void;
}

function tagResource(gateway: Gateway, call: Call): void {
  const { tags, setTags } = taggedResource(gateway, call);
  setTags({ ...tags, ...parseBody(tagBodySchema, call.body).tags });
}

function untagResource(gateway: Gateway, call: Call): void {
  const { tags, setTags } = taggedResource(gateway, call);
  const names = call.query.getAll('tagKeys');
  setTags(Object.fromEntries(Object.entries(tags).filter(([name]) => !names.includes(name))));
}

/** The key or the plan that an ARN names: `arn:aws:apigateway:us-east-1::/apikeys/ID`. */
function taggedResource({ records }: Gateway, { parameter }: Call): TaggedResource {
  const arn = parameter('resourceArn');
  const prefix = `arn:${account.partition}:apigateway:${account.region}::/`;
  const [kind, id = ''] = arn.startsWith(prefix) ? arn.slice(prefix.length).split('/') : [];
  const apiKey = kind === 'apikeys' ? records.apiKey(id) : undefined;
  if (apiKey) return { tags: apiKey.tags, setTags: (tags) => records.putApiKey({ ...apiKey, tags }) };
  const plan = kind === 'usageplans' ? records.usagePlan(id) : undefined;
  if (plan) return { tags: plan.tags, setTags: (tags) => records.putUsagePlan({ ...plan, tags }) };
  throw notFound(`Invalid Resource identifier specified: ${arn}`);
}
