import { styleText } from 'node:util';
import * as v from 'valibot';
import { withoutTokens } from '../../shared/keys/token.ts';

export interface CompletedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Undefined if the client disconnected before the response. */
  readonly status: number | undefined;
  readonly milliseconds: number;
  /** As API Gateway logs it. */
  readonly keyId?: string | undefined;
  /** Label and last four characters of its token. */
  readonly token?: string | undefined;
  /** Undefined outside the API. */
  readonly requestId?: string | undefined;
}

/** A failure as functions log it. */
const errorLineSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    level: v.literal('ERROR'),
    message: v.string(),
    requestId: v.optional(v.string()),
    error: v.object({ stack: v.optional(v.string(), ''), rootCause: v.optional(v.string()) }),
  }),
);

/** Except line breaks, tabs and colors. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]|\u001b(?!\[\d{1,2}m)/g;

/** Shows each completed request in the terminal, followed by the errors that functions logged about it. */
export class Terminal {
  readonly #write: (text: string) => void;
  /** Errors of requests in progress, by their ids. */
  readonly #errors = new Map<string, string[]>();

  constructor(write: (text: string) => void = (text) => process.stdout.write(text)) {
    // Control characters would affect the terminal.
    this.#write = (text) =>
      write(text.replaceAll(CONTROL, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`));
  }

  /** From now on, errors about a request are held back until its line. */
  begin(requestId: string): void {
    this.#errors.set(requestId, []);
  }

  /** Receives the functions' logs, and shows errors and text that is not JSON. */
  log(text: string): void {
    const line = text.startsWith('{"level":"ERROR"') ? v.safeParse(errorLineSchema, text) : undefined;
    if (!line?.success) return text.startsWith('{"') ? undefined : this.#write(text);
    const { message, requestId = '', error } = line.output;
    const cause = error.rootCause === undefined ? '' : `\n[cause]: ${error.rootCause}`;
    const shown = `${message}\n${error.stack}${cause}`.replaceAll(/^/gm, '    ');
    const errors = this.#errors.get(requestId);
    if (errors) errors.push(shown);
    else this.#write(`${shown}\n`);
  }

  request({ method, path, status, milliseconds, keyId = '-', token = '', requestId = '' }: CompletedRequest): void {
    const time = styleText('dim', new Date().toTimeString().slice(0, 8));
    const code = status === undefined ? '-' : styleText(colorOf(status), String(status));
    const target = withoutTokens(path).replaceAll(/[^!-~]+/g, encodeURIComponent);
    const line = `${time} ${method} ${target} ${code} ${Math.round(milliseconds)} ms ${keyId} ${token}`.trimEnd();
    this.#write(`${[line, ...(this.#errors.get(requestId) ?? [])].join('\n')}\n`);
    this.#errors.delete(requestId);
  }
}

function colorOf(status: number): 'green' | 'yellow' | 'red' {
  if (status >= 500) return 'red';
  return status >= 400 ? 'yellow' : 'green';
}
