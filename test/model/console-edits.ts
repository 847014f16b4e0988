import type { KeyRecord } from '../../shared/keys/key-record.ts';
import type { InProcessTarget } from '../support/in-process-target.ts';

type Edit = (world: InProcessTarget, record: KeyRecord) => void;

/** An edit of a key that API Gateway has. */
const onKey =
  (edit: (world: InProcessTarget, id: string) => void): Edit =>
  (world, { recordId }) => {
    const key = world.records.apiKeys.find(({ value }) => value === recordId);
    if (key) edit(world, key.id);
  };

const put = (differences: object): Edit =>
  onKey((world, id) => {
    const key = world.records.apiKey(id);
    if (key) world.records.putApiKey({ ...key, ...differences });
  });

const PAST = '2026-01-01';

/** The ids of other keys that are deleted with the one that a scenario is about: few enough for an admin. */
export const SEVERAL: readonly string[] = ['1', '2', '3', '4'];

/** What an admin does to a key in the AWS console, in one go. */
export const consoleEdits = {
  'console: move': put({ planId: 'business' }),
  'console: take off': put({ planId: undefined }),
  'console: disable': put({ enabled: false }),
  'console: enable': put({ enabled: true }),
  'console: rename': put({ name: 'renamed' }),
  'console: expire': onKey((world, id) => {
    const key = world.records.apiKey(id);
    if (key) world.records.putApiKey({ ...key, tags: { ...key.tags, expires: PAST } });
  }),
  'console: delete': onKey((world, id) => world.records.deleteApiKey(id)),
  'console: delete several': (world, { recordId }) => {
    for (const { id, value } of world.records.apiKeys)
      if (value === recordId || SEVERAL.includes(id)) world.records.deleteApiKey(id);
  },
  'console: delete all': ({ records }) => records.apiKeys.forEach(({ id }) => records.deleteApiKey(id)),
} as const satisfies Record<string, Edit>;

export type ConsoleEdit = keyof typeof consoleEdits;

/** Edits that block a key, which syncs may only undo by name. */
export const blocks = ['console: disable', 'console: take off', 'console: expire'] as const satisfies ConsoleEdit[];
export type Block = (typeof blocks)[number];
