import type { Page } from './answer.ts';
import { Call, type CallContext } from './call.ts';
import { JsonList } from './json-list.ts';
import { isListOf, type Shape, type ShapeName } from './shape.ts';

export interface PageOptions<Status> {
  /** Entries on a page, from 1 to 1000. */
  readonly limit: number;
  /** Only entries with this status. */
  readonly status?: Status | undefined;
  /** Where to go on: `next` of the page before. */
  readonly cursor?: string | undefined;
  /** Ends the call when it aborts. The call throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface ListOptions<Status> extends Omit<PageOptions<Status>, 'limit'> {
  /** Entries to a request, from 1 to 1000; without it the whole list is one answer. */
  readonly limit?: number | undefined;
}

/** What a request for a list is made of. */
export interface ListRequest<Status> {
  readonly params: { readonly query: { readonly limit?: number; readonly cursor?: string; readonly status?: Status } };
  readonly signal: AbortSignal | null;
  readonly fetch: (request: Request) => Promise<Response>;
}

/** How a list is asked for; its answer stays with the call whose `fetch` it takes. */
export type ListOperation<Status> = (request: ListRequest<Status>) => Promise<unknown>;

/** A list of the service. */
export class List<Name extends ShapeName, Status> {
  readonly #name: Name;
  readonly #context: CallContext;
  readonly #operation: ListOperation<Status>;

  /** @param name of its entries */
  constructor(name: Name, context: CallContext, operation: ListOperation<Status>) {
    this.#name = name;
    this.#context = context;
    this.#operation = operation;
  }

  /** All entries as they come. @throws ConnectionError where the list breaks off: what came may look complete, but is not */
  async *entries(options: ListOptions<Status>): AsyncGenerator<Shape<Name>, void, undefined> {
    const { limit } = options;
    if (limit === undefined) {
      yield* this.#streamed(options);
      return;
    }
    let cursor = options.cursor;
    do {
      const page = await this.page({ ...options, limit, cursor });
      yield* page.data;
      cursor = page.next;
    } while (cursor !== undefined);
  }

  async page(options: PageOptions<Status>): Promise<Page<Shape<Name>>> {
    const call = new Call(this.#context);
    await this.#operation(request(options, call));
    const data = call.parse((value) => isListOf(this.#name, value));
    return { ...call.answer(data), next: nextCursor(call.header('Link')) };
  }

  async *#streamed(options: ListOptions<Status>): AsyncGenerator<Shape<Name>, void, undefined> {
    const call = new Call(this.#context, { streams: true });
    await this.#operation(request(options, call));
    const { attempt, response } = call.answered;
    const list = new JsonList();
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let count = 0;
    for await (const bytes of attempt.read(response)) {
      const text = attempt.understood(() => list.push(decoder.decode(bytes, { stream: true })));
      if (text === undefined) continue;
      const entries = call.parseText(text, (value) => isListOf(this.#name, value));
      yield* entries;
      count += entries.length;
    }
    if (!list.isComplete) throw attempt.error('broken-off', `broke off after ${count} entries`);
  }
}

function request<Status>(options: ListOptions<Status>, { fetch }: Call): ListRequest<Status> {
  const { limit, cursor, status, signal = null } = options;
  const query = {
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
    ...(status !== undefined && { status }),
  };
  return { params: { query }, signal, fetch };
}

/** The cursor in a header such as `</v1/inventory?limit=2&cursor=…>; rel="next"`. */
function nextCursor(link = ''): string | undefined {
  const target = /<([^<>]*)>\s*;\s*rel="?next"?/.exec(link)?.[1];
  return target === undefined ? undefined : (new URLSearchParams(target.split('?')[1]).get('cursor') ?? undefined);
}
