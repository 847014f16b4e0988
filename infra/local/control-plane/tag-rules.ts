import { type Tags, tagsSchema } from '../gateway-records/tags.ts';
import { badRequest } from './control-plane-error.ts';
import { parseBody } from './request-body.ts';

const MAX_TAGS = 50;

/** Checks the tags of a resource. @throws ControlPlaneError on a tag that API Gateway does not take */
export function parseTags(value: unknown): Tags {
  const tags = parseBody(tagsSchema, value);
  for (const [name, text] of Object.entries(tags)) {
    if (name.length < 1 || name.length > 128) throw badRequest('A tag key must have 1 to 128 characters');
    if (name.startsWith('aws:')) throw badRequest(`The tag key ${name} must not start with aws:`);
    if (text.length > 256) throw badRequest(`The value of the tag ${name} must have at most 256 characters`);
  }
  if (Object.keys(tags).length > MAX_TAGS) throw badRequest(`A resource can have at most ${MAX_TAGS} tags`);
  return tags;
}

/** The member `tags` of an answer: absent where there are none. */
export function tagsMember(tags: Tags): { readonly tags?: Tags } {
  return Object.keys(tags).length === 0 ? {} : { tags };
}
