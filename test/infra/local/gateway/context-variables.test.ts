import { describe, expect, test } from '@jest/globals';
import { ContextVariables } from '../../../../infra/local/gateway/context-variables.ts';

function variablesOf(values: Readonly<Record<string, unknown>>, prefix?: string): ContextVariables {
  const variables = new ContextVariables();
  variables.set(values, prefix);
  return variables;
}

describe('a context variable', () => {
  test.each([
    ['text', 'text'],
    ['', ''],
    [42, '42'],
    [0, '0'],
    [true, 'true'],
    [false, 'false'],
  ])('is text: %j', (value, text) => {
    expect(variablesOf({ name: value }).get('name')).toBe(text);
  });

  test.each([[null], [undefined], [{}], [['a']], [() => 'a']])('is nothing where it is no scalar: %j', (value) => {
    expect(variablesOf({ name: value }).get('name')).toBeUndefined();
  });

  test('has the name of its group before its own', () => {
    const variables = variablesOf({ limit: 60 }, 'authorizer');

    expect(variables.get('authorizer.limit')).toBe('60');
    expect(variables.get('limit')).toBeUndefined();
  });

  test('is the one that came last', () => {
    const variables = variablesOf({ status: 200 });
    variables.set({ status: 404 });

    expect(variables.get('status')).toBe('404');
  });

  test.each(['constructor', 'toString', 'hasOwnProperty'])('is not there because every object has it: %s', (name) => {
    expect(new ContextVariables().get(name)).toBeUndefined();
    expect(new ContextVariables().substitute(`$context.${name}`, '-')).toBe('-');
  });
});

describe('a template', () => {
  const variables = variablesOf({ requestId: 'r1', status: 404, price: '$1 $& $context.status' });
  variables.set({ code: 'API_KEY_MISSING', a_b: 'x' }, 'authorizer');

  test.each([
    ['$context.requestId', 'r1'],
    ['{"id":"$context.requestId","status":$context.status}', '{"id":"r1","status":404}'],
    ['$context.authorizer.code', 'API_KEY_MISSING'],
    ['$context.authorizer.a_b', 'x'],
    ['Is it $context.status?', 'Is it 404?'],
    ['It is $context.status.', 'It is 404.'],
    ['$context.status$context.status', '404404'],
    ['$context.missing', '-'],
    ['$context.authorizer.missing', '-'],
    ['$context.authorizer', '-'],
    ['$context.requestIdentity', '-'],
    ['$context.', '$context.'],
    ['$context', '$context'],
    ['$input.body $stageVariables.a', '$input.body $stageVariables.a'],
    ['context.requestId', 'context.requestId'],
    ['', ''],
  ])('%s becomes %s', (template, text) => {
    expect(variables.substitute(template, '-')).toBe(text);
  });

  test('takes a value as it is: what looks like a variable in it is not replaced again', () => {
    expect(variables.substitute('$context.price', '-')).toBe('$1 $& $context.status');
  });
});
