import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type AlarmDefinition, alarmDefinitions } from '../../../../infra/stack/monitoring/alarm-table.ts';
import { queries } from '../../../../infra/stack/monitoring/queries.ts';

const folder = path.join(import.meta.dirname, '../../../../docs/runbooks');
const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
const pages = alarmDefinitions.map(([id, definition]): [string, AlarmDefinition] => [`${id}.md`, definition]);

describe('docs/runbooks', () => {
  test('has a page for each alarm, an index, and nothing else', () => {
    expect(readdirSync(folder).toSorted()).toEqual(['README.md', ...pages.map(([name]) => name)].toSorted());
  });

  test.each(pages)('%s has the title of its alarm, and the four parts in their order', (name, { title }) => {
    const headings = read(name).match(/^#+ .+$/gm);

    expect(headings).toEqual([
      `# ${title}`,
      '## What it means',
      '## First look',
      '## What to do',
      '## When it is over',
    ]);
  });

  test.each(pages)('%s stands in the index as its alarm is declared', (name, definition) => {
    const { title, severity, when, rollsBack = false } = definition;
    const rows = read('README.md')
      .split('\n')
      .filter((line) => line.includes(`(${name})`))
      .map((line) => line.split('|').map((cell) => cell.trim()));

    expect(rows).toEqual([
      ['', `[${name.replace('.md', '')}](${name})`, title, severity, when, rollsBack ? 'yes' : 'no', ''],
    ]);
  });

  test.each(readdirSync(folder))('%s links to runbooks that are there', (name) => {
    const links = [...read(name).matchAll(/\]\(([^)/#:]+\.md)\)/g)].map(([, target]) => target);

    expect(readdirSync(folder)).toEqual(expect.arrayContaining(links));
  });

  test.each(pages)('%s has the first step of its alarm in its first look', (name, { firstStep }) => {
    const firstLook = /## First look\n(.*)\n## What to do/s.exec(read(name))?.[1] ?? '';

    for (const [, named] of firstStep.matchAll(/"([^"]+)"/g)) expect(firstLook).toContain(`**${named}**`);
  });

  test('names only queries that are saved, and each of them somewhere', () => {
    const text = readdirSync(folder).map(read).join('\n');
    const names = Object.values(queries).map((query) => query.name);
    const named = [...text.matchAll(/saved quer(?:y|ies) \*\*([^*]+)\*\*/g)].map(([, name = '']) =>
      name.replaceAll(/\s+/g, ' '),
    );

    expect(named.length).toBeGreaterThan(5);
    expect(names).toEqual(expect.arrayContaining(named));
    for (const name of names) expect(text.replaceAll(/\s+/g, ' ')).toContain(`**${name}**`);
  });
});
