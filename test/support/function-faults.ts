import { cpSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readAssembly } from '../../infra/local/assembly.ts';
import { ServedStack } from '../../infra/local/template/stack.ts';
import { synthesizedOnce } from './synthesize-once.ts';

/** What goes wrong in a function, as JavaScript of its handler. */
const faults = {
  crashes: 'process.exit(1)',
  throws: 'throw new TypeError("the secret of the function")',
} as const;

/** What goes wrong in a function that streams, once it has sent its metadata and a part. `done` is the callback of the next write, `write` sends more. */
const lateFaults = {
  'crashes in the middle': 'process.exit(1)',
  'throws in the middle': 'done(new TypeError("the secret of the function"))',
  'never ends': 'write(() => lateFaults["never ends"](done, write))',
} as const;

export type LateFault = keyof typeof lateFaults;

/** Copies the service's cloud assembly to a folder, for faults to be planted in. */
export function assemblyForFaults(folder: string): string {
  cpSync(synthesizedOnce(), folder, { recursive: true });
  return folder;
}

/**
 * Lets a function fail in the way that the header `X-Fault-…` of a request asks for.
 *
 * @param logicalId how the function's id in the template begins
 * @param header such as `x-fault-fallback`, in small letters
 */
export function plantFaults(assembly: string, logicalId: string, header: string): void {
  plant(
    assembly,
    logicalId,
    `const faults = ${handlersOf(faults, 'async ()')};
     exports.handler = (event, context) => (faults[faultOf(event, '${header}')] ?? handler)(event, context);`,
  );
}

/** Lets a function crash once it has done its work, where the header is sent. */
export function plantCrashAfterwards(assembly: string, logicalId: string, header: string): void {
  plant(
    assembly,
    logicalId,
    `exports.handler = async (event, context) => {
       const answer = await handler(event, context);
       return faultOf(event, '${header}') ? process.exit(1) : answer;
     };`,
  );
}

/** Lets the functions wait for an answer of DynamoDB for a tenth of the time. */
export function hurryCalls(assembly: string): void {
  const { assetFolders } = readAssembly(assembly);
  const files = [...new Set(assetFolders.values())].map((folder) => path.join(folder, 'function.cjs'));
  let hurried = 0;
  for (const file of files.filter((each) => existsSync(each))) {
    const code = readFileSync(file, 'utf8');
    const hurriedCode = code.replace('requestTimeout:3e3', 'requestTimeout:300');
    if (hurriedCode !== code) hurried += 1;
    writeFileSync(file, hurriedCode);
  }
  if (hurried === 0) throw new Error('No function of the assembly has a request timeout of 3 seconds');
}

/** Lets a function that streams fail in the way that the header asks for. */
export function plantStreamFaults(assembly: string, logicalId: string, header: string): void {
  plant(
    assembly,
    logicalId,
    `const faults = ${handlersOf(faults, 'async ()')};
     const lateFaults = ${handlersOf(lateFaults, '(done, write)')};
     exports.handler = awslambda.streamifyResponse(async (event, stream, context) => {
       const name = faultOf(event, '${header}');
       if (faults[name]) return faults[name]();
       const write = stream._write;
       let writes = 0;
       if (lateFaults[name]) stream._write = (chunk, encoding, done) =>
         ++writes > 2 ? lateFaults[name](done, (next) => write.call(stream, Buffer.alloc(1e6), '', next)) : write.call(stream, chunk, encoding, done);
       return handler(event, stream, context);
     });`,
  );
}

function handlersOf(codes: Readonly<Record<string, string>>, parameters: string): string {
  const handlers = Object.entries(codes).map(([name, code]) => `${JSON.stringify(name)}: ${parameters} => { ${code} }`);
  return `{ ${handlers.join(', ')} }`;
}

/** Puts code around the `handler` of a function. In it, `faultOf(event, header)` is the value of a header. */
function plant(assembly: string, logicalId: string, code: string): void {
  const folder = codeFolder(assembly, logicalId);
  renameSync(path.join(folder, 'function.cjs'), path.join(folder, 'faultless.cjs'));
  writeFileSync(
    path.join(folder, 'function.cjs'),
    `const { handler, initialise } = require('./faultless.cjs');
     exports.initialise = initialise;
     const faultOf = ({ headers }, header) =>
       Object.entries(headers).find(([name]) => name.toLowerCase() === header)?.[1];
     ${code}`,
  );
}

function codeFolder(assembly: string, logicalId: string): string {
  const { name, template, assetFolders } = readAssembly(assembly);
  const functions = new ServedStack(name, template).resources('AWS::Lambda::Function');
  const code = functions.find((resource) => resource.logicalId.startsWith(logicalId))?.properties.Code.S3Key ?? '';
  const folder = assetFolders.get(code);
  if (folder === undefined) throw new Error(`The assembly has no function ${logicalId}`);
  return folder;
}
