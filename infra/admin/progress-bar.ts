import { Presets, SingleBar } from 'cli-progress';

/** A bar on standard error, where that is a terminal. */
export function progressBar(what: string): SingleBar {
  const format = `${what} {bar} {percentage}% | {value} of {total} | {eta_formatted} left`;
  return new SingleBar({ format, stream: process.stderr }, Presets.shades_classic);
}
