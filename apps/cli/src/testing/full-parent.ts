/** Prints how a worker ended that was started without a descriptor to spare. Needs a low limit of open files. */
import { openSync } from 'node:fs';

import { forkWorker } from '../serve/cluster.ts';

// It is opened while there are descriptors.
process.stdout.write('');
try {
  for (;;) openSync('/dev/null', 'r');
} catch {
  const worker = forkWorker([]);
  worker.ask(() => undefined);
  worker.signal('SIGTERM');
  process.stdout.write(`${JSON.stringify(await worker.ended)}\n`);
}
process.exit();
