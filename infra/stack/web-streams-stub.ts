/** Replaces `node:stream/web` in bundles: its import takes 4 ms of a cold start, and no body is a web stream. */
export const ReadableStream = WeakSet;
