/** What the bundles have in the place of `node:stream/web`, which middy asks whether a body is of: ours never are. */
export const ReadableStream = WeakSet;
