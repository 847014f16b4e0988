/** What differs between deployments of the service. */
export interface StageSettings {
  readonly name: StageName;
  /** Keep the tables when the stack goes, and refuse to delete them. */
  readonly retainData: boolean;
  /** When `GET /pets/{petId}` was deprecated, and from when on it may be gone (spec §9, rule 3): times in ISO 8601. */
  readonly petDeprecation: { readonly deprecatedAt: string; readonly sunsetAt: string };
}

const petDeprecation = { deprecatedAt: '2026-11-21T00:00:00Z', sunsetAt: '2027-11-30T00:00:00Z' };

export const stageNames = ['staging', 'production'] as const;
export type StageName = (typeof stageNames)[number];

export const stages = {
  staging: { name: 'staging', retainData: false, petDeprecation },
  production: { name: 'production', retainData: true, petDeprecation },
} as const satisfies Record<StageName, StageSettings>;

/** The name that CloudFormation knows the stack of a stage by. */
export const stackNameOf = (stage: StageName): string => `${stage}-Inventory`;
