import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AdminCommand, failureLine, type Outcome } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { awsFault, FaultyLink } from '../support/faulty-link.ts';
import { LocalHost } from '../support/local-host.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
let host: LocalHost;
let admin: AdminCommand;

beforeAll(async () => {
  host = await LocalHost.start({ sampleData: false });
  admin = new AdminCommand(host.origin);
});

afterAll(() => host.close());

function written(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

const importFile = (name: string, content: string): Promise<Outcome> =>
  admin.run('inventory', 'import', written(name, content));

async function listText(): Promise<string> {
  return (await ApiClient.withKey(host.baseUrl, host.host.keys.enterprise).list()).text;
}

describe('npm run admin -- inventory import', () => {
  test('writes nothing unless every row is good, and names each fault with its line', async () => {
    const rows = 'petId,quantity,status\n1,1,sold\nx,1,sold\n1,2,sold\n2,-1,sold\n';
    const { exitCode, stdout, stderr } = await importFile('bad.csv', rows);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      expect.stringContaining('bad.csv:3: petId must be an int64'),
      expect.stringContaining('bad.csv:4: petId 1 is on line 2 too'),
      expect.stringContaining('bad.csv:5: quantity must be an integer'),
      '3 rows are wrong. Nothing was written.',
      '',
    ]);
    expect(await listText()).toBe('[]');
  });

  test('loads every row, an int64 digit for digit, and can run again', async () => {
    const large = '9223372036854775807';
    const rows = Array.from({ length: 1_200 }, (_, index) => `${index + 1},${index % 50},available`);
    const content = ['petId,quantity,status', ...rows, `${large},3,pending`].join('\n');
    for (const _ of ['first', 'again']) {
      const { exitCode, stdout } = await importFile('good.csv', content);
      expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Imported 1,201 /) });
    }
    const list = await listText();
    expect(list.match(/"petId"/g)).toHaveLength(1_201);
    expect(list.endsWith(`,{"petId":${large},"quantity":3,"status":"pending"}]`)).toBe(true);
  });

  test('replaces the entries that the file names and leaves the others; with --json it says how many', async () => {
    const file = written('one.jsonl', '{"petId":7,"quantity":77,"status":"sold"}\n');
    expect(await admin.json('inventory', 'import', file)).toEqual({ imported: 1, file });
    const list = await listText();
    expect(list).toContain('{"petId":7,"quantity":77,"status":"sold"}');
    expect(list).toContain('{"petId":8,"quantity":7,"status":"available"}');
  });

  test('refuses a file without rows', async () => {
    const file = written('empty.csv', 'petId,quantity,status\n');
    expect(await admin.failure('inventory', 'import', file)).toContain('has no rows');
  });

  test('says in one line how far it got where the store fails, and does the rest when it runs again', async () => {
    const link = await FaultyLink.to(host.origin);
    let writes = 0;
    link.faults = ({ action }) => {
      if (action !== 'BatchWriteItem') return undefined;
      writes += 1;
      return writes > 5 ? awsFault(400, 'AccessDeniedException', 'You may write no more.') : undefined;
    };
    const rows = Array.from({ length: 500 }, (_, index) => `${index + 5_001},1,sold`);
    const file = written('cut.csv', ['petId,quantity,status', ...rows].join('\n'));
    const cut = await new AdminCommand(link.origin).run('inventory', 'import', file);
    await link.close();

    expect(failureLine(cut)).toMatch(
      /^The import stopped after \d+ of 500 stock entries: You may write no more\. Run the same command/,
    );
    expect(await admin.output('inventory', 'import', file)).toMatch(/^Imported 500 /);
    expect((await listText()).match(/"petId":5\d{3},/g)).toHaveLength(500);
  });

  test.each([
    ['without a file', [], "missing required argument 'file'"],
    ['with an unknown option', ['FILE', '--table', 'stock'], "unknown option '--table'"],
    ['with a file that is not there', ['nowhere.csv'], 'Cannot read nowhere.csv: ENOENT'],
    ['with a file of another format', ['stock.xlsx'], 'its name must end in .csv or .jsonl'],
  ])('%s says what to do in one line', async (_, words, message) => {
    const file = written('fine.csv', 'petId,quantity,status\n1,1,sold\n');
    expect(
      await admin.failure('inventory', 'import', ...words.map((word) => (word === 'FILE' ? file : word))),
    ).toContain(message);
  });
});
