/** Imported by a server before its own code: on SIGUSR2 it collects garbage and writes what its process then uses. */
import { renameSync, writeFileSync } from 'node:fs';
import { getHeapCodeStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
// Workers have the environment of their parent.
const file = `${process.env['ORION_MEMORY_FILE'] ?? ''}.${process.pid}`;

process.on('SIGUSR2', () => {
  collectGarbage();
  collectGarbage();
  writeFileSync(
    `${file}.new`,
    JSON.stringify({ ...process.memoryUsage(), ...getHeapCodeStatistics() }),
  );
  renameSync(`${file}.new`, file);
});
