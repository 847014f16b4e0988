import { Fn } from 'aws-cdk-lib';
import { type Domain, exportNames, type StageSettings } from '../stages.ts';

/** The version segment that every base address ends in (spec §1 and §9): the stage of the API, and its base path. */
export const VERSION_SEGMENT = 'v1';

/** Base address of an API with a name of its own. */
export const baseUrlAt = ({ name }: Domain): string => `https://${name}/${VERSION_SEGMENT}`;

/** Base address of the API, for the stacks beside its own. */
export function baseUrlOf({ name, apiDomain }: Pick<StageSettings, 'name' | 'apiDomain'>): string {
  return apiDomain ? baseUrlAt(apiDomain) : Fn.importValue(exportNames.baseUrl(name));
}

/** An origin that no page can have (RFC 2606, section 2): without a page, no browser may call the API. */
const NO_ORIGIN = 'https://no-page.invalid';

/** Origin of the reference page, for the stacks beside its own; or of a page that is kept elsewhere. */
export function pageOriginOf({ name, page, pageDomain }: Pick<StageSettings, 'name' | 'page' | 'pageDomain'>): string {
  if (pageDomain) return `https://${pageDomain.name}`;
  return page ? Fn.importValue(exportNames.pageOrigin(name)) : NO_ORIGIN;
}
