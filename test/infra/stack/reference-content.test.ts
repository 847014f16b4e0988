import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { propertiesIn, templateIn } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

const deploymentSchema = v.object({
  SourceObjectKeys: v.array(v.string()),
  SystemMetadata: v.looseObject({}),
  SourceMarkers: v.optional(v.array(v.record(v.string(), v.object({ 'Fn::ImportValue': v.string() }))), []),
});
const template = templateIn(synthesizedOnce(), 'ReferenceContent', 'staging');
const deploymentNamed = (name: string) =>
  v.parse(deploymentSchema, propertiesIn(template, 'Custom::CDKBucketDeployment', name)[0]);

const directoryOf = (archive: string): string => path.join(synthesizedOnce(), `asset.${archive.replace('.zip', '')}`);

/** The files in an archive of the assembly, where it is a directory still. */
function filesIn(archive: string): string[] {
  const entries = readdirSync(directoryOf(archive), { recursive: true, encoding: 'utf8' });
  return entries.filter((entry) => statSync(path.join(directoryOf(archive), entry)).isFile()).toSorted();
}

/** The texts that a deployment puts there, as they are once they are deployed. */
function filesOf(deployment: string): [name: string, text: string][] {
  const { SourceObjectKeys, SourceMarkers } = deploymentNamed(deployment);
  return SourceObjectKeys.map((archive, place) => {
    const [name = ''] = filesIn(archive);
    const text = readFileSync(path.join(directoryOf(archive), name), 'utf8');
    const markers = Object.entries(SourceMarkers[place] ?? {});
    const put = (rest: string, [marker, value]: (typeof markers)[number]) =>
      rest.replaceAll(marker, `<${value['Fn::ImportValue']}>`);
    return [name, markers.reduce(put, text)];
  });
}

describe('the files of the reference page', () => {
  test('get the address of the API when they are deployed, and no key', () => {
    const files = Object.fromEntries(['Pageshtml', 'Pagesjson', 'Pagesplain'].flatMap(filesOf));
    expect(files['index.html']).toContain("connect-src 'self' <staging-BaseUrl>/; ");
    const servers = [{ url: '<staging-BaseUrl>' }];
    expect(JSON.parse(files['openapi.json'] ?? '')).toMatchObject({ servers });
    for (const text of Object.values(files)) expect(text).not.toMatch(/marker:|Token\[|psk_Demo/);
  });

  test('say what they are, whatever their names say', () => {
    expect(deploymentNamed('Pageshtml').SystemMetadata).toMatchObject({ 'content-type': 'text/html; charset=utf-8' });
    const cached = { 'cache-control': 'public, max-age=31536000, immutable' };
    expect(deploymentNamed('Assets').SystemMetadata).toMatchObject(cached);
    // Pages that are open still load the files of earlier builds.
    for (const one of propertiesIn(template, 'Custom::CDKBucketDeployment'))
      expect(one).toMatchObject({ Prune: false });
  });
});
