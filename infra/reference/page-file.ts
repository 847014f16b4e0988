/** A file of the reference page. */
export interface PageFile {
  readonly contentType: string;
  /** Whether its path changes with its content, so that whoever has it may keep it. */
  readonly immutable: boolean;
  read(): Buffer;
}

/** The files of the page by their paths, without a slash in front. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
};

/** @throws Error for a kind of file that the page does not have */
export function contentTypeOf(path: string): string {
  const contentType = contentTypes[path.slice(path.lastIndexOf('.') + 1)];
  if (contentType === undefined) throw new Error(`The page has no content type for ${path}`);
  return contentType;
}
