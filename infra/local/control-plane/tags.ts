import * as v from 'valibot';
import type { Tags } from '../gateway-records/tags.ts';
import { account } from '../template/account.ts';
import { notFound, badRequest } from './control-plane-error.ts';
import { type Call, type Gateway, type Operation, parameter } from './operation.ts';
import { pagingParameters } from './paging.ts';
import { parseBody } from './request-body.ts';
import { parseTags } from './tag-rules.ts';

const tagBodySchema = v.strictObject({ tags: v.unknown() });

/** Clients send the slashes of an ARN encoded; people who type one may not. */
const path = '/tags/{resourceArn+}';

export const tagOperations: readonly Operation[] = [
  {
    name: 'GetTags',
    method: 'GET',
    path,
    // API Gateway takes these two and has no use for them (API reference, GetTags).
    query: pagingParameters,
    status: 200,
    run: (gateway, call) => ({ tags: taggedResource(gateway, call).tags }),
  },
  { name: 'TagResource', method: 'PUT', path, status: 204, run: tagResource },
  { name: 'UntagResource', method: 'DELETE', path, query: ['tagKeys'], status: 204, run: untagResource },
];

interface TaggedResource {
  readonly tags: Tags;
  readonly setTags: (tags: Tags) => void;
}

function tagResource(gateway: Gateway, call: Call): void {
  const { tags, setTags } = taggedResource(gateway, call);
  setTags(parseTags({ ...tags, ...parseTags(parseBody(tagBodySchema, call.body).tags) }));
}

function untagResource(gateway: Gateway, call: Call): void {
  const { tags, setTags } = taggedResource(gateway, call);
  const names = call.query.texts('tagKeys');
  if (names.length === 0) throw badRequest('tagKeys is required');
  setTags(Object.fromEntries(Object.entries(tags).filter(([name]) => !names.includes(name))));
}

/** The key or the plan that an ARN names: `arn:aws:apigateway:us-east-1::/apikeys/ID`. */
function taggedResource({ records }: Gateway, call: Call): TaggedResource {
  const arn = parameter(call, 'resourceArn');
  const prefix = `arn:${account.partition}:apigateway:${account.region}::`;
  const resourcePath = arn.startsWith(prefix) ? arn.slice(prefix.length) : '';
  const [, kind, id = ''] = /^\/(apikeys|usageplans)\/([^/]+)$/.exec(resourcePath) ?? [];
  const key = kind === 'apikeys' ? records.apiKey(id) : undefined;
  if (key) return { tags: key.tags, setTags: (tags) => records.putApiKey({ ...key, tags }) };
  const plan = kind === 'usageplans' ? records.usagePlan(id) : undefined;
  if (plan) return { tags: plan.tags, setTags: (tags) => records.putUsagePlan({ ...plan, tags }) };
  throw notFound(`Invalid Resource identifier specified: ${arn}`);
}
