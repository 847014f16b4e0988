import { Fn } from 'aws-cdk-lib';
import type { Domain, StageName, StageSettings } from '../stages.ts';

/** The version segment that every base address ends in (spec §1 and §9): the stage of the API, and its base path. */
export const VERSION_SEGMENT = 'v1';

/**
 * The names by which the stacks of a stage tell each other their addresses. CloudFormation has one of each in a region,
 * and refuses to change a value that another stack has imported: so these are the addresses that AWS gives, which stay,
 * and never those of one's own, which may come later.
 */
export const exportNames = {
  /** Origin of the reference page as CloudFront has it: scheme and host. */
  pageOrigin: (stage: StageName): string => `${stage}-ReferencePageOrigin`,
  /** Bucket that the page's files go to. */
  pageBucket: (stage: StageName): string => `${stage}-ReferencePageBucket`,
  /** Base address of the API as API Gateway has it, which ends in its version. */
  baseUrl: (stage: StageName): string => `${stage}-BaseUrl`,
} as const;

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
