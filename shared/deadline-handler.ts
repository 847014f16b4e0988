import { NodeHttpHandler, type NodeHttpHandlerOptions } from '@smithy/node-http-handler';

/** `requestTimeout` is the deadline of an attempt, in milliseconds. */
type DeadlineOptions = NodeHttpHandlerOptions & { readonly requestTimeout: number };

/**
 * AWS's HTTP handler with one deadline for each attempt, from its start to the last byte of the response, whose body
 * it returns complete. (AWS's own timeouts are idle timeouts: a body that drips never reaches them.)
 */
export class DeadlineHandler extends NodeHttpHandler {
  readonly options: DeadlineOptions;

  constructor(options: DeadlineOptions) {
    const { requestTimeout: _, ...others } = options;
    super(others);
    this.options = options;
  }

  override async handle(...[request, options]: Parameters<NodeHttpHandler['handle']>) {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), this.options.requestTimeout);
    let isAnswered = false;
    try {
      const result = await super.handle(request, { ...options, abortSignal: deadline.signal });
      isAnswered = true;
      const chunks: Buffer[] = [];
      for await (const chunk of result.response.body) chunks.push(chunk);
      result.response.body = Buffer.concat(chunks);
      return result;
    } catch (error) {
      if (!isAnswered && !deadline.signal.aborted) throw error;
      // The body ends with ECONNRESET, which would read as a connection that was closed before the call.
      const name = deadline.signal.aborted ? 'TimeoutError' : 'IncompleteResponseError';
      throw Object.assign(new Error('No complete response was received', { cause: error }), { name, $metadata: {} });
    } finally {
      clearTimeout(timer);
    }
  }
}
