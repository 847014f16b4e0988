import type { ApiKey } from '../../infra/local/control-plane/gateway-records.ts';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import type { InProcessTarget } from '../support/in-process-target.ts';

/** The ids of other keys that are deleted with the one that a scenario is about: few enough for an admin. */
export const SEVERAL: readonly string[] = ['1', '2', '3', '4'];

/** What an admin changes of a key in the AWS console; undefined: it is deleted. */
const consoleEdits = {
  'console: move': { planId: 'business' },
  'console: take off': { planId: undefined },
  'console: disable': { enabled: false },
  'console: enable': { enabled: true },
  'console: rename': { name: 'renamed' },
  'console: expire': { tags: { expires: '2026-01-01' } },
  'console: delete': undefined,
  'console: delete several': undefined,
  'console: delete all': undefined,
} as const satisfies Record<string, Partial<ApiKey> | undefined>;

export type ConsoleEdit = keyof typeof consoleEdits;

export const isConsoleEdit = (name: string): name is ConsoleEdit => name in consoleEdits;

/** Edits that block a key, which syncs may only undo by name. */
export const blocks = ['console: disable', 'console: take off', 'console: expire'] as const satisfies ConsoleEdit[];
export type Block = (typeof blocks)[number];

/** Makes an edit, in one go. */
export function editInConsole({ records }: InProcessTarget, name: ConsoleEdit, { recordId }: KeyRecord): void {
  const change: Partial<ApiKey> | undefined = consoleEdits[name];
  for (const key of records.apiKeys) {
    const isOther = name === 'console: delete all' || (name === 'console: delete several' && SEVERAL.includes(key.id));
    if (!isOther && key.value !== recordId) continue;
    if (change) records.putApiKey({ ...key, ...change, tags: { ...key.tags, ...change.tags } });
    else records.deleteApiKey(key.id);
  }
}
