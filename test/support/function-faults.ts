import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { jest } from '@jest/globals';
import * as v from 'valibot';
import type { LocalHost } from './local-host.ts';

/** What goes wrong in a function, as JavaScript of its handler. */
const faults = {
  crashes: 'process.exit(1)',
  throws: 'throw new TypeError("the secret of the function")',
  hangs: 'return new Promise(() => {})',
  'answers with nothing': 'return undefined',
  'answers with another shape': 'return { answer: 42 }',
  'answers with too much': 'return { statusCode: 200, body: "x".repeat(7_000_000) }',
  'refuses in the words of API Gateway': 'throw new Error("Unauthorized")',
} as const;

export type FunctionFault = keyof typeof faults;

const templateSchema = v.object({
  Resources: v.record(v.string(), v.object({ Type: v.string(), Properties: v.optional(v.unknown()) })),
});
const functionSchema = v.object({ Code: v.object({ S3Key: v.string() }) });

/**
 * Lets a function of the host fail in the way that the header `X-Fault-…` of a request asks for. It has to be done
 * before the function's first request, which loads its code.
 *
 * @param logicalId how the function's id in the template begins
 * @param header such as `x-fault-fallback`, in small letters
 */
export function plantFaults(host: LocalHost, logicalId: string, header: string): void {
  const assembly = path.dirname(host.host.logFolder);
  const folder = path.join(assembly, `asset.${path.parse(codeOf(assembly, logicalId)).name}`);
  renameSync(path.join(folder, 'index.js'), path.join(folder, 'faultless.js'));
  const handlers = Object.entries(faults).map(([name, code]) => `${JSON.stringify(name)}: async () => { ${code} }`);
  writeFileSync(
    path.join(folder, 'index.js'),
    `const { handler } = require('./faultless.js');
     const faults = { ${handlers.join(', ')} };
     const isFault = ([name]) => name.toLowerCase() === ${JSON.stringify(header)};
     exports.handler = (event, context) =>
       (faults[Object.entries(event.headers).find(isFault)?.[1]] ?? handler)(event, context);`,
  );
}

function codeOf(assembly: string, logicalId: string): string {
  const folder = path.join(assembly, 'assembly-staging');
  const file = readdirSync(folder).find((name) => name.endsWith('.template.json'));
  const template = v.parse(templateSchema, JSON.parse(readFileSync(path.join(folder, file ?? ''), 'utf8')));
  const [, resource] =
    Object.entries(template.Resources).find(
      ([id, { Type }]) => Type === 'AWS::Lambda::Function' && id.startsWith(logicalId),
    ) ?? [];
  return v.parse(functionSchema, resource?.Properties).Code.S3Key;
}

/** Lets timers of the host in this process that would take this many milliseconds, or a little less, end soon. */
export function hurryTimers(milliseconds: number): void {
  const setRealTimeout = globalThis.setTimeout;
  jest.spyOn(globalThis, 'setTimeout').mockImplementation((callback, delay = 0) => {
    const isMeant = delay > milliseconds - 500 && delay <= milliseconds;
    return setRealTimeout(callback, isMeant ? 100 : delay);
  });
}
