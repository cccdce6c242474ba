/**
 * Several servers on one machine, to be tried and killed: `orion serve --workers` on a Postgres of its own, in this very
 * process, so that all of it ends with it. What is not an option of this program is one of `orion serve`.
 */
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';
import { startPostgres } from '@orion/testkit/postgres';

const MAIN = fileURLToPath(new URL('../../apps/cli/dist/main.js', import.meta.url));

const PARENT_MS = 500;

const OPTIONS = {
  workers: { type: 'string', default: '3' },
  /** In seconds; a worker is killed so often. */
  'kill-every': { type: 'string' },
} as const;

const { values, tokens } = parseArgs({ options: OPTIONS, strict: false, tokens: true });
const own = tokens.flatMap((token) => {
  if (token.kind !== 'option' || !(token.name in OPTIONS)) return [];
  return token.inlineValue === true ? [token.index] : [token.index, token.index + 1];
});
const theirs = process.argv.slice(2).filter((_, index) => !own.includes(index));
// What is wrong is said before there is a Postgres.
const workers = readCount('workers', String(values.workers), 1);
const killEvery = values['kill-every'];
const killMs =
  killEvery === undefined ? null : 1_000 * readCount('kill-every', String(killEvery), 1);

// Whoever started it may be killed, which nobody is told.
const { ppid } = process;
setInterval(() => {
  if (process.ppid !== ppid) process.kill(process.pid, 'SIGTERM');
}, PARENT_MS).unref();

process.env['DATABASE_URL'] ??= (await startPostgres()).url;
if (killMs !== null) {
  let listening = 0;
  cluster.on('listening', () => {
    listening += 1;
    // One that cannot start ends all of it.
    if (listening === workers) setInterval(killOne, killMs).unref();
  });
}
process.chdir(process.env['INIT_CWD'] ?? process.cwd());
// The command as it was built, whatever this program was started with.
cluster.setupPrimary({ exec: MAIN, execArgv: [] });
process.argv.splice(1, Infinity, MAIN, 'serve', '--workers', String(workers), ...theirs);
await import(MAIN);

/** The one that lives longest. */
function killOne(): void {
  const [worker] = Object.values(cluster.workers ?? {});
  if (worker === undefined) return;
  process.stderr.write(`killing the worker ${worker.process.pid}\n`);
  worker.process.kill('SIGKILL');
}
