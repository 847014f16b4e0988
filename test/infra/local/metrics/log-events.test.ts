import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { commonLogTime } from '../../../../infra/local/gateway/proxy-event.ts';
import { HostError } from '../../../../infra/local/host-error.ts';
import { parseCommonLogTime, readLogEvents } from '../../../../infra/local/metrics/log-events.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

describe('reading the log groups of a host', () => {
  const folder = temporaryFolder();
  const report = '2026-11-21T12:00:02.000Z\tREPORT RequestId: 1\tDuration: 1.00 ms';
  const request = `{"message":"Request","_aws":{"Timestamp":${Date.parse('2026-11-21T12:00:01Z')}}}`;
  const access = '{"time":"21/Nov/2026:12:00:03 +0000","status":"200"}';
  writeFileSync(join(folder, 'function.log'), `an error\n${request}\n    at an error\n${report}\nlate\n`);
  writeFileSync(join(folder, 'access.log'), `${access}\n`);
  writeFileSync(join(folder, 'notes.txt'), `${request}\n`);

  test('puts the lines of all of them in the order of their times, which a failure has from its request', async () => {
    const events = await readLogEvents(folder);
    const told = events.map(({ logGroup, at, message }) => `${new Date(at).toISOString()} ${logGroup} ${message}`);

    expect(told).toEqual([
      '2026-11-21T12:00:01.000Z function an error',
      `2026-11-21T12:00:01.000Z function ${request}`,
      '2026-11-21T12:00:02.000Z function     at an error',
      `2026-11-21T12:00:02.000Z function ${report}`,
      '2026-11-21T12:00:02.000Z function late',
      `2026-11-21T12:00:03.000Z access ${access}`,
    ]);
  });

  test('takes a line that is being written for text', async () => {
    appendFileSync(join(folder, 'access.log'), access.slice(0, 20));

    expect((await readLogEvents(folder)).at(-1)).toMatchObject({ message: access.slice(0, 20), fields: undefined });
  });

  test('says how to make some where there are none', async () => {
    await expect(readLogEvents(join(folder, 'nowhere'))).rejects.toThrow(HostError);
  });
});

test.each(['2026-11-21T12:00:03.000Z', '2027-02-01T00:00:00.000Z'])(
  'the gateway writes %s so that it is read',
  (time) => {
    expect(parseCommonLogTime(commonLogTime(Date.parse(time)))).toBe(Date.parse(time));
  },
);
