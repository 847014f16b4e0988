import type { StageName } from '../stages.ts';

/** The names by which the stacks of a stage tell each other their addresses. CloudFormation has one of each in a region. */
export const exportNames = {
  /** Origin of the reference page: scheme and host. */
  pageOrigin: (stage: StageName): string => `${stage}-ReferencePageOrigin`,
  /** Bucket that the page's files go to. */
  pageBucket: (stage: StageName): string => `${stage}-ReferencePageBucket`,
  /** Base address of the API, which ends in its version. */
  baseUrl: (stage: StageName): string => `${stage}-BaseUrl`,
} as const;
