import { InvalidArgumentError } from 'commander';
import { type AnyStageName, parseStageName, STAGE_NAMES } from './stages.ts';

/** Parses the option `--stage` of a command. @throws InvalidArgumentError for an invalid name */
export function parseStage(text: string): AnyStageName {
  const stage = parseStageName(text);
  if (stage) return stage;
  throw new InvalidArgumentError(`It must be ${STAGE_NAMES}.`);
}
