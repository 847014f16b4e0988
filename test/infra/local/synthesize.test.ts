import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { synthesize } from '../../../infra/local/synthesize.ts';
import { LocalStack } from '../../../infra/local/template/stack.ts';
import { synthesizeStages } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const folderOfDeployment = temporaryFolder();
const { name, template, assetFolders } = synthesize(folder);

describe('the stack that the local host runs', () => {
  test('is the one that is deployed to staging', () => {
    expect(name).toBe('staging-Inventory');
    expect(template).toEqual(synthesizeStages(folderOfDeployment).staging.template.toJSON());
  });

  test('has a folder with a bundle for the code of every function', () => {
    const functions = new LocalStack(name, template).resources('AWS::Lambda::Function');

    expect(functions).toHaveLength(5);
    for (const { properties } of functions) {
      expect(readdirSync(assetFolders.get(properties.Code.S3Key) ?? '')).toContain('index.js');
    }
  });

  test('is synthesized into the folder that it is told', () => {
    for (const assetFolder of assetFolders.values()) expect(assetFolder.startsWith(`${folder}/`)).toBe(true);
  });
});
