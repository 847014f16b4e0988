import { Readable } from 'node:stream';
import { logError } from '../log.ts';

interface Entries<Entry> {
  /** Of `parts`, read already. */
  readonly first: IteratorResult<readonly Entry[]>;
  readonly parts: AsyncGenerator<readonly Entry[]>;
  readonly toJson: (entry: Entry) => string;
  readonly requestId: string;
  /** Milliseconds that the reader may take nothing for. */
  readonly idleTimeoutMs: number;
}

/** The text of a JSON array, part by part as the entries are read. Where it breaks off, the log says why. */
export function jsonArray<Entry>({ requestId, idleTimeoutMs, ...entries }: Entries<Entry>): Readable {
  const watched = async function* (): AsyncGenerator<string> {
    try {
      for await (const part of text(entries)) {
        const timer = setTimeout(() => body.destroy(new Error('The reader has stalled')), idleTimeoutMs);
        try {
          yield part;
        } finally {
          clearTimeout(timer);
        }
      }
    } catch (error) {
      logError('A list broke off after its answer had begun', error, { requestId });
      throw error;
    }
  };
  const body = Readable.from(watched());
  return body;
}

async function* text<Entry>({ first, parts, toJson }: Pick<Entries<Entry>, 'first' | 'parts' | 'toJson'>) {
  let separator = '[';
  for (let part = first; !part.done; part = await parts.next()) {
    if (part.value.length === 0) continue;
    yield separator + part.value.map(toJson).join(',');
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}
