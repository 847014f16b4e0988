import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { allowsInvoke, policyDocumentSchema } from '../../../../infra/local/gateway/policy.ts';

const API = 'arn:aws:execute-api:us-east-1:000000000000:a1b2c3';
const GET_INVENTORY = `${API}/v1/GET/inventory`;

const statement = (Effect: string, Resource: unknown, Action: unknown = 'execute-api:Invoke') => ({
  Effect,
  Action,
  Resource,
});

function allows(methodArn: string, ...statements: readonly object[]): boolean {
  return allowsInvoke(v.parse(policyDocumentSchema, { Version: '2012-10-17', Statement: statements }), methodArn);
}

describe('a resource of a policy', () => {
  test.each([
    [GET_INVENTORY],
    [`${API}/v1/*`],
    [`${API}/*`],
    ['*'],
    [`${API}/*/GET/*`],
    [`${API}/v1/GET/inventor?`],
    [`${API}/v?/*/inventory`],
    [`${API}/v1/GET/inventory*`],
    ['arn:aws:execute-api:*:*:*/v1/GET/inventory'],
  ])('%s takes GET /inventory', (resource) => {
    expect(allows(GET_INVENTORY, statement('Allow', resource))).toBe(true);
  });

  test.each([
    [`${API}/v1/GET`],
    [`${API}/v1/GET/inventory/*`],
    [`${API}/v1/GET/inventory?`],
    [`${API}/v1/get/inventory`],
    [`${API}/v2/*`],
    [`${API}/v1/PATCH/*`],
    ['inventory'],
    [''],
    [`${API}/v1/GET/inv`],
    [`.*`],
    [`${API}/v1/GET/i.ventory`],
    [`${API}/v1/(GET)/inventory`],
    [`${API}/v1/[G]ET/inventory`],
    [`^${GET_INVENTORY}$`],
    [`${API}/v1/GET/inventory|`],
    [String.raw`${API}/v1/GET/\w+`],
  ])('%s does not', (resource) => {
    expect(allows(GET_INVENTORY, statement('Allow', resource))).toBe(false);
  });

  test.each([
    'inventory/a.b',
    'inventory/(1)',
    'inventory/[1]',
    'inventory/$',
    'inventory/a+b',
    'inventory/{1}|^',
    'a\\b',
  ])('is itself, whatever characters it has: %s', (path) => {
    expect(allows(`${API}/v1/GET/${path}`, statement('Allow', `${API}/v1/GET/${path}`))).toBe(true);
  });

  test('takes a path with a line break by a wildcard', () => {
    expect(allows(`${API}/v1/GET/a\nb`, statement('Allow', `${API}/*`))).toBe(true);
  });
});

describe('an action of a policy', () => {
  test.each([
    'execute-api:Invoke',
    'execute-api:invoke',
    'EXECUTE-API:INVOKE',
    'execute-api:*',
    'execute-api:Inv*',
    '*',
  ])('%s is the invocation of a method', (action) => {
    expect(allows(GET_INVENTORY, statement('Allow', '*', action))).toBe(true);
  });

  test.each(['execute-api:InvalidateCache', 'lambda:InvokeFunction', 'execute-api', ''])('%s is not', (action) => {
    expect(allows(GET_INVENTORY, statement('Allow', '*', action))).toBe(false);
  });
});

describe('a policy', () => {
  test.each([
    ['one that allows', [statement('Allow', '*')], true],
    ['none', [], false],
    ['one that allows something else', [statement('Allow', `${API}/v1/PATCH/*`)], false],
    ['one that denies', [statement('Deny', '*')], false],
    ['one that allows, then one that denies', [statement('Allow', '*'), statement('Deny', GET_INVENTORY)], false],
    ['one that denies, then one that allows', [statement('Deny', GET_INVENTORY), statement('Allow', '*')], false],
    ['one that denies something else', [statement('Deny', `${API}/v2/*`), statement('Allow', '*')], true],
    ['one that denies another action', [statement('Deny', '*', 'lambda:*'), statement('Allow', '*')], true],
    ['the resource among others', [statement('Allow', ['x', GET_INVENTORY, 'y'])], true],
    ['the action among others', [statement('Allow', '*', ['lambda:*', 'execute-api:Invoke'])], true],
    ['neither among others', [statement('Allow', ['x', 'y'], ['execute-api:Invoke'])], false],
  ])('with %s', (_, statements, allowed) => {
    expect(allows(GET_INVENTORY, ...statements)).toBe(allowed);
  });

  test.each([
    ['a condition', { ...statement('Allow', '*'), Condition: {} }],
    ['a NotResource', { Effect: 'Allow', Action: '*', NotResource: 'x' }],
    ['another effect', statement('allow', '*')],
    ['no action', { Effect: 'Allow', Resource: '*' }],
    ['a number for a resource', statement('Allow', 1)],
  ])('with %s in a statement is none that this gateway understands', (_, unknown) => {
    expect(() => allows(GET_INVENTORY, unknown)).toThrow(v.ValiError);
  });

  test('of another version is none that this gateway understands', () => {
    expect(v.is(policyDocumentSchema, { Version: '2008-10-17', Statement: [] })).toBe(false);
  });
});
