import { describe, expect, test } from '@jest/globals';
import { lostTables } from '../../../infra/deploy/template.ts';
import { inventoryTemplate } from '../../support/service-template.ts';

const staging = inventoryTemplate('staging');

/** A template with one table, whose key is of a type, and with attributes of indexes. */
const withKey = (AttributeType: string, ...indexed: object[]) => {
  const AttributeDefinitions = [...indexed, { AttributeName: 'id', AttributeType }];
  const Properties = { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], AttributeDefinitions };
  return { Resources: { Stock: { Type: 'AWS::DynamoDB::Table', Properties } } };
};

describe('lost tables', () => {
  test('are those that are missing or have other keys', () => {
    const [gone, changed] = ['TablesStock190D1C2E', 'TablesKeys6B5A3ABF'];
    const { [gone]: _, ...resources } = inventoryTemplate('staging').Resources;
    Object.assign(resources[changed]?.Properties ?? {}, { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] });

    expect(lostTables(staging, staging)).toEqual([]);
    // Whatever else is gone, such as alarms and versions of functions, is no table.
    expect(lostTables(inventoryTemplate('production'), staging)).toEqual([]);
    expect(lostTables(staging, { Resources: resources }).toSorted()).toEqual([changed, gone]);
  });

  test('include one with another key type, but not one with other indexes', () => {
    const index = { AttributeName: 'status', AttributeType: 'S' };

    expect(lostTables(withKey('S'), withKey('S', index))).toEqual([]);
    expect(lostTables(withKey('S', index), withKey('S'))).toEqual([]);
    expect(lostTables(withKey('S', index), withKey('N', index))).toEqual(['Stock']);
  });
});
