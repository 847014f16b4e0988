/** A row of a file as it stands there, or why it cannot be read. */
export type FileRow =
  { readonly line: number; readonly value: unknown } | { readonly line: number; readonly fault: string };

/** Above what any record needs, so that a file that is none of ours does not fill the memory. */
export const MAX_ROW_BYTES = 1_048_576;
