import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { LocalStack } from '../../../infra/local/template/stack.ts';
import { runModule } from '../../support/module-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The service as the local host synthesises it, and all of staging as it is deployed, with the reference page. */
const synthesizeBoth = `
  const [, root, , deployed] = process.argv;
  const { createApp } = await import(root + '/infra/create-app.ts');
  const { stages } = await import(root + '/infra/stages.ts');
  // It takes the folder from the same argument.
  await import(root + '/infra/local/synthesize.ts');
  createApp([stages.staging], { outdir: deployed }).synth();
`;

const folder = temporaryFolder();
const folderOfDeployment = temporaryFolder();
runModule(synthesizeBoth, folder, folderOfDeployment);
const { name, template, assetFolders } = readAssembly(folder);

/** The stacks of staging in an assembly. */
const stacksIn = (assembly: string) =>
  readdirSync(join(assembly, 'assembly-staging'))
    .filter((file) => file.endsWith('.template.json'))
    .map((file) => file.replace(/[0-9A-F]{8}\.template\.json$/, ''))
    .toSorted();

describe('the stack that the local host runs', () => {
  test('is the one that is deployed to staging, but for the folders', () => {
    const deployed = readAssembly(folderOfDeployment);

    expect(name).toBe('staging-Inventory');
    expect(template).toEqual(deployed.template);
    expect([...assetFolders.keys()]).toEqual([...deployed.assetFolders.keys()]);
  });

  test('has a folder with a bundle for the code of every function', () => {
    const functions = new LocalStack(name, template).resources('AWS::Lambda::Function');

    expect(functions).toHaveLength(7);
    for (const { properties } of functions) {
      expect(readdirSync(assetFolders.get(properties.Code.S3Key) ?? '')).toContain('function.cjs');
    }
  });

  test('is synthesized into the folder that it is told', () => {
    for (const assetFolder of assetFolders.values()) expect(assetFolder.startsWith(`${folder}/`)).toBe(true);
  });

  test('is there without the reference page, which takes longer than all the rest', () => {
    expect(stacksIn(folder)).toEqual(['stagingInventory']);
    expect(stacksIn(folderOfDeployment)).toEqual([
      'stagingInventory',
      'stagingReferenceContent',
      'stagingReferenceSite',
    ]);
  });
});
