// A host that is stopped while it starts, from before its sources are loaded: 130 after Ctrl-C, as shells have it.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

/** `npm start`. */
await import('./start.ts');
