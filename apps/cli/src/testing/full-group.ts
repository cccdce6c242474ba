/** Prints what is said of workers of which not even the first can be started. Needs a low limit of open files. */
import { openSync } from 'node:fs';

import { serveWorkers } from '../serve/serve-workers.ts';
import { createFakeContext } from './fake-context.ts';

// It is opened while there are descriptors.
process.stdout.write('');
const context = createFakeContext({});
try {
  for (;;) openSync('/dev/null', 'r');
} catch {
  const notListening = (): Error => new Error('no port');
  const place = { count: 2, host: '127.0.0.1', port: 1, notListening };
  const code = await serveWorkers(context, place, () => Promise.reject(new Error('they serve')));
  process.stdout.write(`${code}: ${context.stderr.written()}`);
}
process.exit();
