import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { Document, visit } from 'yaml';
import { stageNames, type StageName } from '../../../infra/stages.ts';
import { differenceFrom, readableStage } from '../../support/readable-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { synthesizedStages } from '../../support/synthesized.ts';

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

test('Production is deployed as staging is, but for this', () => {
  expect(asYaml(differenceFrom(staging, production))).toMatchSnapshot();
});

const metadataSchema = v.record(v.string(), v.array(v.object({ type: v.string(), data: v.optional(v.unknown()) })));

/** The findings of cdk-nag that a stage lives with: construct and rule, each with its reason. */
function acknowledgedOn(stage: StageName): Map<string, string> {
  const folder = path.join(synthesizedOnce(), `assembly-${stage}`);
  const files = readdirSync(folder).filter((file) => file.endsWith('.metadata.json'));
  const found = files
    .flatMap((file) =>
      Object.entries(v.parse(metadataSchema, JSON.parse(readFileSync(path.join(folder, file), 'utf8')))),
    )
    .flatMap(([at, entries]) =>
      entries
        .filter(({ type }) => type === 'aws:cdk:acknowledged-rules')
        .flatMap(({ data }) => Object.entries(v.parse(v.record(v.string(), v.string()), data)))
        .map(([rule, reason]): [string, string] => [`${at}: ${rule.replace(/^.*::/, '')}`, reason]),
    );
  return new Map(found);
}

describe.each(stageNames)('the findings of cdk-nag that are acknowledged on %s', (stage) => {
  test('are these', () => {
    const findings = [...acknowledgedOn(stage).keys()].map((one) => one.replaceAll(/<(\w+)[0-9A-F]{8}\.Arn>/g, '<$1>'));

    expect(findings.toSorted()).toMatchSnapshot();
  });

  test('have a reason each', () => {
    for (const reason of acknowledgedOn(stage).values()) expect(reason).toMatch(/^[A-Z].{30,}\.$/);
  });
});

/** CloudFormation replaces what gets another id: tables would be empty, and clients would call an API that is gone. */
const idsThatStay = [
  'ApiAccessLogs50B185DB',
  'ApiExecutionLogsB326CF6B',
  'ApiRestApiE35FEAFE',
  'FunctionsAuthorizer453D4F28',
  'FunctionsAuthorizerLogsAFE6D4FC',
  'FunctionsFallback6A5E14EC',
  'FunctionsFallbackLogsCF12837B',
  'FunctionsGetPet0469058F',
  'FunctionsGetPetLogs69FCFA6A',
  'FunctionsListInventory46009E6E',
  'FunctionsListInventoryLogs50A79A12',
  'FunctionsListOrdersC8991EBD',
  'FunctionsListOrdersLogs5E4AD547',
  'FunctionsUpdateInventoryBEF62497',
  'FunctionsUpdateInventoryLogs0E917A4C',
  'KeySyncFailedSyncs90A7FD1B',
  'KeySyncFunction38BC2B32',
  'KeySyncFunctionLogs88865A21',
  'KeySyncQueue05161705',
  'TablesKeys6B5A3ABF',
  'TablesOrdersACF7C9C0',
  'TablesPetsD2B49199',
  'TablesRequests3CA232D6',
  'TablesStock190D1C2E',
];

test.each(stageNames)('What %s has to keep, keeps its logical id', (stage) => {
  const { Resources } = synthesizedStages()[stage].template;
  const kept = /^AWS::(DynamoDB::Table|ApiGateway::RestApi|Lambda::Function|Logs::LogGroup|SQS::Queue)$/;
  const ids = Object.entries(Resources).flatMap(([id, { Type }]) => (kept.test(Type) ? [id] : []));

  expect(ids.filter((id) => !/^(?:Firewall|Proof|AWSCDKTrigger)/.test(id)).toSorted()).toEqual(idsThatStay.toSorted());
});
