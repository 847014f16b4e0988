import type { StageName } from '../stages.ts';

/**
 * The names by which the stacks of a stage tell each other their addresses. CloudFormation has one of each in a region,
 * and refuses to change a value that another stack has imported: so these are the addresses that AWS gives, which stay,
 * and never those of one's own, which may come later. In a file of its own, so that the local host reads it without the
 * CDK.
 */
export const exportNames = {
  /** Origin of the reference page as CloudFront has it: scheme and host. */
  pageOrigin: (stage: StageName): string => `${stage}-ReferencePageOrigin`,
  /** Bucket that the page's files go to. */
  pageBucket: (stage: StageName): string => `${stage}-ReferencePageBucket`,
  /** Base address of the API as API Gateway has it, which ends in its version. */
  baseUrl: (stage: StageName): string => `${stage}-BaseUrl`,
} as const;
