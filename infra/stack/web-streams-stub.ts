/**
 * Replaces `node:stream/web` in the bundles, whose import takes 4 ms of a list's cold start: middy only checks whether
 * a body is a web stream; none of ours is.
 */
export const ReadableStream = WeakSet;
