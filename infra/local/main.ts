import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// A host that is stopped while it starts, from before its sources are loaded: 130 after Ctrl-C, as shells have it.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

/** `npm start`. What Node.js makes of the sources is kept for the next start: half of its time, and some memory. */
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/pet-store-host'));
await import('./start.ts');
