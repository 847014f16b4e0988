import { Command } from 'commander';
import { HostError } from '../host-error.ts';
import { listen } from '../listening.ts';
import { parsePort } from '../options.ts';
import { createEngineServer } from './engine-server.ts';

/** `npm run database`: the embedded engine by itself, for hosts that are started with `--dynamodb`. */

interface DatabaseOptions {
  readonly port: number;
  readonly data?: string;
}

const { port, data } = new Command('npm run database --')
  .description('Runs the embedded DynamoDB engine by itself, until it is stopped with Ctrl-C.')
  .option('--port <number>', 'port to listen on; 0 for any free one', parsePort, 8000)
  .option('--data <folder>', 'where it keeps its data; in memory without one')
  .allowExcessArguments(false)
  .parse()
  .opts<DatabaseOptions>();

try {
  const address = await listen(createEngineServer(data), '127.0.0.1', port);
  process.stdout.write(`http://localhost:${address.port}\n`);
} catch (error) {
  if (!(error instanceof HostError)) throw error;
  process.stderr.write(`npm run database: ${error.message}\n`);
  process.exit(1);
}
