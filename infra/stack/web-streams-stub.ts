/** Replaces `node:stream/web` in the bundles: middy only checks whether a body is a web stream; none of ours is. */
export const ReadableStream = WeakSet;
