import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

const folder = path.join(synthesizedOnce(), 'assembly-staging');
const file = readdirSync(folder).find((name) => /^stagingReferenceContent\w+\.template\.json$/.test(name)) ?? '';
const deploymentSchema = v.object({
  SourceObjectKeys: v.array(v.string()),
  SourceMarkers: v.optional(v.array(v.record(v.string(), v.object({ 'Fn::ImportValue': v.string() }))), []),
});
const { Resources } = v.parse(
  v.object({ Resources: v.record(v.string(), v.looseObject({ Properties: v.optional(v.unknown()) })) }),
  JSON.parse(readFileSync(path.join(folder, file), 'utf8')),
);
const deploymentNamed = (name: string) => {
  const [, found] = Object.entries(Resources).find(([id]) => id.startsWith(`${name}CustomResource`)) ?? [];
  return v.parse(deploymentSchema, found?.Properties);
};

const folderOf = (archive: string): string => path.join(synthesizedOnce(), `asset.${archive.replace('.zip', '')}`);

/** The files in an archive of the assembly, where it is a folder still. */
function filesIn(archive: string): string[] {
  const entries = readdirSync(folderOf(archive), { recursive: true, encoding: 'utf8' });
  return entries.filter((entry) => statSync(path.join(folderOf(archive), entry)).isFile()).toSorted();
}

describe('the files of the reference page', () => {
  test('get the address of the API when they are deployed, and no key', () => {
    const { SourceObjectKeys, SourceMarkers } = deploymentNamed('Pages');
    const [index = '', openapi = ''] = SourceObjectKeys.map((archive, place) => {
      const text = readFileSync(path.join(folderOf(archive), filesIn(archive)[0] ?? ''), 'utf8');
      const markers = Object.entries(SourceMarkers[place] ?? {});
      return markers.reduce((rest, [marker, value]) => rest.replaceAll(marker, `<${value['Fn::ImportValue']}>`), text);
    });

    expect(index).toContain("connect-src 'self' <staging-BaseUrl>/; ");
    expect(JSON.parse(openapi)).toMatchObject({ servers: [{ url: '<staging-BaseUrl>' }] });
    for (const text of [index, openapi]) expect(text).not.toMatch(/marker:|Token\[|psk_Demo/);
  });
});
