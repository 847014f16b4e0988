import { cpSync, globSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readAssembly } from '../../infra/local/assembly/assemble.ts';
import { ServedStack } from '../../infra/local/template/stack.ts';
import { synthesizedOnce } from '../support/synthesize-once.ts';

/** Copies the service's cloud assembly to a directory, for faults to be planted in. */
export function assemblyForFaults(directory: string): string {
  cpSync(synthesizedOnce(), directory, { recursive: true });
  return directory;
}

/** Lets the functions wait for a response of DynamoDB for a tenth of the time. */
export function hurryCalls(assembly: string): void {
  const files = globSync(path.join(assembly, 'asset.*/function.cjs'));
  // The default in the options of `documentClient`.
  const slow = /(?<=requestTimeout:\w+=)[\w$]+(?=,maxAttempts)/;
  const hurried = files.filter((file) => slow.test(readFileSync(file, 'utf8')));
  if (hurried.length === 0) throw new Error('No function of the assembly has a request timeout by default');
  for (const file of hurried) writeFileSync(file, readFileSync(file, 'utf8').replace(slow, '300'));
}

/** Start of the code of a fault: `faultOf` reads from the header which fault occurs, and when. */
const faults = (header: string): string => `
  const { handler, initialize } = require('./faultless.cjs');
  exports.initialize = initialize;
  const secret = () => new TypeError('the secret of the function');
  const fail = { crashes: () => process.exit(1), throws: () => { throw secret(); } };
  const faultOf = ({ headers }) => {
    const [, value = ''] = Object.entries(headers).find(([name]) => name.toLowerCase() === '${header}') ?? [];
    const [what, when] = value.split(/ (.*)/);
    return { what, when };
  };`;

/** Fails before the handler begins, or once it has done its work. */
const buffered = `
  exports.handler = async (event, context) => {
    const { what, when } = faultOf(event);
    if (when === undefined) fail[what]?.();
    const answer = await handler(event, context);
    fail[what]?.();
    return answer;
  };`;

/** Fails before the handler begins, or once it has sent its metadata and a part of the body. */
const streamed = `
  exports.handler = awslambda.streamifyResponse(async (event, stream, context) => {
    const { what, when } = faultOf(event);
    if (when === undefined) fail[what]?.();
    const write = stream._write;
    let writes = 0;
    stream._write = (chunk, encoding, done) => {
      writes += 1;
      if (when === undefined || writes <= 2) write.call(stream, chunk, encoding, done);
      else if (what === 'crashes') fail.crashes();
      else done(secret());
    };
    return handler(event, stream, context);
  });`;

/**
 * Lets a function fail in the way that a header of a request asks for: `crashes` or `throws`, alone or with
 * `afterwards` (of a function that streams, `in the middle`).
 *
 * @param logicalId how the function's id in the template begins
 * @param header in small letters
 */
export function plantFaults(assembly: string, logicalId: string, header: string): void {
  const { name, template, codeDirectory } = readAssembly(assembly);
  const stack = new ServedStack(name, template);
  const aliases = stack.resources('AWS::Lambda::Alias');
  const functions = aliases.map((alias) => stack.find('AWS::Lambda::Function', alias.text('FunctionName')));
  const code = functions.find((resource) => resource.logicalId.startsWith(logicalId))?.text('Code.S3Key');
  if (code === undefined) throw new Error(`The assembly has no function ${logicalId}`);
  const directory = codeDirectory(code);
  const wrapper = logicalId.startsWith('FunctionsList') ? streamed : buffered;
  renameSync(path.join(directory, 'function.cjs'), path.join(directory, 'faultless.cjs'));
  writeFileSync(path.join(directory, 'function.cjs'), faults(header) + wrapper);
}
