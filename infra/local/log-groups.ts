import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../shared/log.ts';
import { writeNotice } from './local-server-error.ts';

/** Max bytes of a file that a start appends to. Of longer files, the last one is kept. */
const MAX_BYTES = 10 * 1024 * 1024;

/**
 * The log groups of the server, a file each: an unread standard stream would block the server.
 *
 * @returns appends text to a group; after a failed write it is dropped, as a full disk must not stop the service
 */
export function logGroupsIn(directory: string): (group: string, text: string) => void {
  const opened = new Set<string>();
  let hasFailed = false;
  return (group, text) => {
    const file = join(directory, `${group}.log`);
    if (hasFailed) return;
    try {
      const size = opened.has(group) ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
      if (size > MAX_BYTES) renameSync(file, `${file}.1`);
      opened.add(group);
      appendFileSync(file, text);
    } catch (error) {
      hasFailed = true;
      writeNotice(`Logging has stopped: ${messageOf(error)}`);
    }
  };
}
