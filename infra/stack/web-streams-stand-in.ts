/** Replaces `node:stream/web` in the bundles: middy only asks whether a body is a web stream, and no body of ours is one. */
export const ReadableStream = WeakSet;
