/**
 * Imported by a parent and its workers before their own code: a worker that finds a file takes it away, and its clock is
 * wrong by as many seconds as it says.
 */
import cluster from 'node:cluster';
import { existsSync, readFileSync, rmSync } from 'node:fs';

const { ORION_CLOCK_FILE: file = '' } = process.env;

if (cluster.isWorker && existsSync(file)) {
  process.env['ORION_SHIFT_SECONDS'] = readFileSync(file, 'utf8');
  rmSync(file);
  await import('../../served-turns/preload/shift-clock.ts');
}
