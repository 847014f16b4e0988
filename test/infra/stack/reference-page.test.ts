import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { inventoryTemplate, propertiesIn, resourcesIn, withoutFunctions } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

const uploadSchema = v.object({
  SourceObjectKeys: v.array(v.string()),
  SourceMarkers: v.optional(v.array(v.record(v.string(), v.string())), []),
});
const template = inventoryTemplate('staging');
const [assets = {}, pages = {}, ...others] = propertiesIn(template, 'Custom::CDKBucketDeployment');

const directoryOf = (archive: string): string => path.join(synthesizedOnce(), `asset.${archive.replace('.zip', '')}`);

function filesIn(archive: string): string[] {
  const entries = readdirSync(directoryOf(archive), { recursive: true, encoding: 'utf8' });
  return entries.filter((entry) => statSync(path.join(directoryOf(archive), entry)).isFile()).toSorted();
}

/** The texts that an upload puts there, as they are once they are deployed. */
function filesOf(upload: object): [name: string, text: string][] {
  const { SourceObjectKeys, SourceMarkers } = v.parse(uploadSchema, withoutFunctions(upload));
  return SourceObjectKeys.map((archive, place) => {
    const [name = ''] = filesIn(archive);
    const text = readFileSync(path.join(directoryOf(archive), name), 'utf8');
    const markers = Object.entries(SourceMarkers[place] ?? {});
    return [name, markers.reduce((rest, [marker, value]) => rest.replaceAll(marker, value), text)];
  });
}

test('Tables are created after the distribution, so an account without CloudFront fails first', () => {
  const [[distribution] = []] = resourcesIn(template, 'AWS::CloudFront::Distribution');

  for (const [, { DependsOn }] of resourcesIn(template, 'AWS::DynamoDB::Table'))
    expect(DependsOn).toEqual([distribution]);
});

describe('the files of the reference page', () => {
  test('get the address of the API on deployment, and no key', () => {
    const [[api] = []] = resourcesIn(template, 'AWS::ApiGateway::RestApi');
    const url = `https://<${api}>.execute-api.<AWS::Region>.<AWS::URLSuffix>/v1`;
    const files = Object.fromEntries(filesOf(pages));

    expect(files['index.html']).toContain(`connect-src 'self' ${url}/; `);
    expect(JSON.parse(files['openapi.json'] ?? '')).toMatchObject({ servers: [{ url }] });
    for (const text of Object.values(files)) expect(text).not.toMatch(/marker:|Token\[|psk_Demo/);
  });

  test('have known extensions, and stay available to pages that are already open', () => {
    const names = [assets, pages].flatMap((upload) =>
      v.parse(uploadSchema, withoutFunctions(upload)).SourceObjectKeys.flatMap(filesIn),
    );

    expect(new Set(names.map((name) => path.extname(name)))).toEqual(
      new Set(['.css', '.html', '.js', '.json', '.svg', '.txt']),
    );
    expect(assets).toMatchObject({
      Prune: false,
      SystemMetadata: { 'cache-control': 'public, max-age=31536000, immutable' },
    });
    expect(pages).toMatchObject({ Prune: false, SystemMetadata: { 'cache-control': 'public, max-age=60' } });
    expect(others).toEqual([]);
  });

  test('are uploaded before any version gets traffic', () => {
    const [, [last] = []] = resourcesIn(template, 'Custom::CDKBucketDeployment');
    const aliases = resourcesIn(template, 'AWS::Lambda::Alias', 'Functions');

    expect(aliases).not.toEqual([]);
    for (const [, { DependsOn }] of aliases) expect(DependsOn).toContain(last);
  });
});
