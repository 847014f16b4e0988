/** What differs between deployments of the service. */
export interface StageSettings {
  readonly name: string;
  /** Keep the tables when the stack goes, and refuse to delete them. */
  readonly retainData: boolean;
}

export const stages = {
  staging: { name: 'staging', retainData: false },
  production: { name: 'production', retainData: true },
} as const satisfies Record<string, StageSettings>;
