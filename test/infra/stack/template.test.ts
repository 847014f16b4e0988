import { expect, test } from '@jest/globals';
import { Document, visit } from 'yaml';
import { differenceFrom, readableStage } from '../../support/readable-template.ts';

/**
 * All that is deployed, as it was when somebody last looked at it. After a change that is meant, run
 * `npm run jest -- test/infra/stack/template.test.ts -u` and read the difference.
 */
function asYaml(value: unknown): string {
  const document = new Document(value);
  visit(document, {
    Collection: (_, node) => {
      node.flow = JSON.stringify(node).length < 150;
    },
  });
  return `\n${document.toString({ lineWidth: 0 })}`;
}

const staging = readableStage('staging');
const production = readableStage('production');

test('Staging is deployed as it was', () => {
  expect(asYaml(staging)).toMatchSnapshot();
});

test('Production is deployed as staging is, but for this', () => {
  expect(asYaml(differenceFrom(staging, production))).toMatchSnapshot();
});
