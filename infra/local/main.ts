// Handles a stop during the start, before the sources are loaded: exit status 130 after Ctrl-C, as in shells.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
process.once('SIGHUP', () => process.exit(129));

// Under `node --watch`, threads would report their modules among their messages.
delete process.env['WATCH_REPORT_DEPENDENCIES'];

/** `npm start`. */
await import('./start.ts');
