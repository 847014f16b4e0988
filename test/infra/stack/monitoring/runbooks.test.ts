import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { alarmDefinitions } from '../../../../infra/stack/monitoring/alarm-table.ts';
import { queries } from '../../../../infra/stack/monitoring/queries.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../../../docs/runbooks.md'), 'utf8');
const [index = '', ...sections] = page.split(/^## /m).map((section) => section.trim());
const sectionOf = (id: string): string => sections.find((section) => section.startsWith(`${id}\n`)) ?? '';

describe('docs/runbooks.md', () => {
  test('has a section for each alarm, in the order of the table', () => {
    const [, ...titles] = sections.map((section) => section.split('\n')[0]);

    expect(titles).toEqual(alarmDefinitions.map(([id]) => id));
  });

  test.each(alarmDefinitions)('%s has its title, and the four parts in their order', (id, { title }) => {
    expect(sectionOf(id)).toContain(`\n**${title}**\n`);
    expect(sectionOf(id).match(/^#+ .+$/gm)).toEqual([
      '### What it means',
      '### First look',
      '### What to do',
      '### When it is over',
    ]);
  });

  test.each(alarmDefinitions)('%s stands in the index as its alarm is declared', (id, definition) => {
    const { title, severity, when, rollsBack = false } = definition;
    const rows = index
      .split('\n')
      .filter((line) => line.includes(`(#${id})`))
      .map((line) => line.split('|').map((cell) => cell.trim()));

    expect(rows).toEqual([['', `[${id}](#${id})`, title, severity, when, rollsBack ? 'yes' : 'no', '']]);
  });

  test.each(alarmDefinitions)('%s has the first step of its alarm in its first look', (id, { firstStep }) => {
    const firstLook = /### First look\n(.*)\n### What to do/s.exec(sectionOf(id))?.[1] ?? '';

    for (const [, named] of firstStep.matchAll(/"([^"]+)"/g)) expect(firstLook).toContain(`**${named}**`);
  });

  test('names only queries that are saved, and each of them somewhere', () => {
    const text = page.replaceAll(/\s+/g, ' ');
    const names = Object.values(queries).map((query) => query.name);
    const named = [...text.matchAll(/saved quer(?:y|ies) \*\*([^*]+)\*\*/g)].map(([, name]) => name);

    expect(named.length).toBeGreaterThan(5);
    expect(names).toEqual(expect.arrayContaining(named));
    for (const name of names) expect(text).toContain(`**${name}**`);
  });
});
