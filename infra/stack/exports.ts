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

/** Origin of the reference page, for the stacks beside its own. */
export function pageOriginOf({ name, pageDomain }: Pick<StageSettings, 'name' | 'pageDomain'>): string {
  return pageDomain ? `https://${pageDomain.name}` : Fn.importValue(exportNames.pageOrigin(name));
}
