import { describe, expect, test } from '@jest/globals';
import { HostError } from '../../../../infra/local/host-error.ts';
import { type Names, resolveIntrinsics } from '../../../../infra/local/template/intrinsics.ts';

const refs = new Map([
  ['Table', 'stock-table'],
  ['AWS::Region', 'us-east-1'],
  ['Empty', ''],
]);

const attributes = new Map([
  ['Table.Arn', 'arn:aws:dynamodb:us-east-1:0:table/stock-table'],
  ['Table.Stream.Label', 'label'],
]);

const imports = new Map([['staging-Origin', 'https://example.com']]);

const names: Names = {
  ref: (name) => refs.get(name),
  attribute: (resource, attribute) => attributes.get(`${resource}.${attribute}`),
  imported: (name) => imports.get(name),
};

const resolve = (value: unknown) => resolveIntrinsics(value, names, 'Resource Table');

describe('an intrinsic function', () => {
  test.each([
    [{ Ref: 'Table' }, 'stock-table'],
    [{ 'Fn::GetAtt': ['Table', 'Arn'] }, 'arn:aws:dynamodb:us-east-1:0:table/stock-table'],
    [{ 'Fn::ImportValue': 'staging-Origin' }, 'https://example.com'],
    [{ 'Fn::Join': ['', ['a', 'b', 'c']] }, 'abc'],
    [{ 'Fn::Split': [':', 'a:b::c'] }, ['a', 'b', '', 'c']],
    [{ 'Fn::Select': [0, ['a', 'b']] }, 'a'],
    [{ 'Fn::Sub': 'cdk-${AWS::Region}-${Table}' }, 'cdk-us-east-1-stock-table'],
  ])('%j is %j', (value, resolved) => {
    expect(resolve(value)).toEqual(resolved);
  });

  test('may have others within', () => {
    const region = { 'Fn::Select': [3, { 'Fn::Split': [':', { 'Fn::GetAtt': ['Table', 'Arn'] }] }] };

    expect(resolve({ 'Fn::Join': ['', ['arn:', region, ':', { Ref: 'Table' }]] })).toBe('arn:us-east-1:stock-table');
  });
});

describe('anything else', () => {});

describe('what the local host does not know', () => {
  test.each([
    [{ Ref: 'Other' }],
    [{ 'Fn::GetAtt': ['Table', 'StreamArn'] }],
    [{ 'Fn::GetAtt': ['Other', 'Arn'] }],
    [{ 'Fn::If': ['IsProduction', 'a', 'b'] }],
    [{ 'Fn::ImportValue': 'Other' }],
    [{ 'Fn::Join': ['-', 'ab'] }],
    [{ 'Fn::Select': [2, ['a', 'b']] }],
    [{ 'Fn::Sub': '${Other}' }],
    [{ 'Fn::Sub': 'a ${Table} ${Table.StreamArn}' }],
    [{ 'Fn::Sub': ['${a}', { a: 'b' }] }],
  ])('stops it, with the place and the function named: %j', (value) => {
    const [name] = Object.keys(value);

    expect(() => resolve({ deep: [value] })).toThrow(HostError);
    expect(() => resolve({ deep: [value] })).toThrow(`Resource Table: the local host does not know ${name} `);
    expect(() => resolve({ deep: [value] })).toThrow(JSON.stringify(Object.values(value)[0]));
  });

  test('is never taken for an empty text in a larger one', () => {
    expect(() => resolve({ 'Fn::Join': ['', ['a', { Ref: 'Other' }]] })).toThrow('does not know Ref "Other"');
  });
});
