/** What differs between deployments of the service. */
export interface StageSettings {
  readonly name: StageName;
  /** Keep the tables when the stack goes, and refuse to delete them. */
  readonly retainData: boolean;
}

export const stageNames = ['staging', 'production'] as const;
export type StageName = (typeof stageNames)[number];

export const stages = {
  staging: { name: 'staging', retainData: false },
  production: { name: 'production', retainData: true },
} as const satisfies Record<StageName, StageSettings>;

/** The name that CloudFormation knows the stack of a stage by. */
export const stackNameOf = (stage: StageName): string => `${stage}-Inventory`;
