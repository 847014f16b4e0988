/** Characters of one entry; a longer one is not of this interface. */
const MAX_ENTRY_LENGTH = 1_048_576;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** What may come next, outside of an entry. */
type Expected = 'list' | 'entry or end' | 'entry' | 'comma or end' | 'nothing';

/**
 * Splits a JSON array of objects that arrives piece by piece, and holds no more of it than a piece and one entry.
 * Whether each entry is good JSON is for a parser to say.
 */
export class JsonList {
  #expected: Expected = 'list';
  /** What was not handed out yet: the beginning of an entry. */
  #rest = '';
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  /** Whether the list has been closed, so that nothing is missing. */
  get isComplete(): boolean {
    return this.#expected === 'nothing';
  }

  /**
   * Takes the next piece of text.
   *
   * @returns the entries that it completes, as a JSON array; undefined where it completes none
   * @throws SyntaxError where the text is not a list of objects
   */
  push(piece: string): string | undefined {
    const text = this.#rest + piece;
    let start = this.#depth > 0 ? 0 : undefined;
    let end: number | undefined;
    let open = 0;
    for (let index = this.#rest.length; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (this.#depth > 0) {
        if (this.#endsEntry(code)) end = index + 1;
      } else if (this.#beginsEntry(code)) {
        start ??= index;
        open = index;
      }
    }
    this.#rest = this.#depth > 0 ? text.slice(open) : '';
    if (this.#rest.length > MAX_ENTRY_LENGTH) throw new SyntaxError('An entry is too long');
    return end === undefined ? undefined : `[${text.slice(start, end)}]`;
  }

  /** Takes a character inside of an entry. @returns whether the entry ends with it */
  #endsEntry(code: number): boolean {
    if (this.#inString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === QUOTE) this.#inString = false;
    } else if (code === QUOTE) this.#inString = true;
    else if (code === OPENING_BRACE) this.#depth += 1;
    else if (code === CLOSING_BRACE) this.#depth -= 1;
    if (this.#depth > 0) return false;
    this.#expected = 'comma or end';
    return true;
  }

  /** Takes a character outside of the entries. @returns whether an entry begins with it */
  #beginsEntry(code: number): boolean {
    if (isSpace(code)) return false;
    const expected = this.#expected;
    if (code === OPENING_BRACE && (expected === 'entry' || expected === 'entry or end')) {
      this.#depth = 1;
      return true;
    }
    if (code === OPENING_BRACKET && expected === 'list') this.#expected = 'entry or end';
    else if (code === COMMA && expected === 'comma or end') this.#expected = 'entry';
    else if (code === CLOSING_BRACKET && (expected === 'comma or end' || expected === 'entry or end')) {
      this.#expected = 'nothing';
    } else throw new SyntaxError('The answer is not a list of entries');
    return false;
  }
}
