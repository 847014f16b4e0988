import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { generateApiKey } from '../../shared/keys/api-key.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

describe('A host in whose logs there is', () => {
  test.each<[string, (host: LocalHost) => Promise<string> | string, string]>([
    ['a key that was issued', async (host) => (await issueKey(host)).token, 'a known key'],
    ['a demo key', ({ host }) => host.keys.free, 'a known key'],
    ['what the gateway knows a key by', ({ host }) => host.records.apiKeys[0]?.value ?? '', 'the hash of a known key'],
    ['a key of nobody', () => generateApiKey(), 'an API key'],
  ])('%s fails the suite as it is closed, and does not repeat it', async (_, secretOf, kind) => {
    const host = await LocalHost.start({ sampleData: false });
    const { logFolder } = host.host;
    const file = readdirSync(logFolder).find((name) => name.includes('Authorizer')) ?? '';
    const secret = await secretOf(host);
    appendFileSync(join(logFolder, file), `{"message":"${secret}"}\n`);
    const failure: unknown = await host.close().catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(Error);
    expect(String(failure)).toContain(`${file}:1: ${kind}`);
    expect(String(failure)).not.toContain(secret);
  });
});
