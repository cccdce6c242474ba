/**
 * Runs a command where the network is nothing but a loopback of its own, and where it may mount file systems, as an
 * ordinary user too. Where the system gives no such place, the command runs as it is, and that is said.
 */
import { spawnSync } from 'node:child_process';

const OWN_PLACE = ['unshare', '--user', '--map-root-user', '--net', '--mount', '--'];
const UP = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

const isPossible = spawnSync(OWN_PLACE[0], [...OWN_PLACE.slice(1), ...UP, 'true']).status === 0;
if (!isPossible)
  process.stderr.write('*** WITH the network: no namespace without one can be had here ***\n');
const [program = '', ...args] = [
  ...(isPossible ? [...OWN_PLACE, ...UP] : []),
  ...process.argv.slice(2),
];
const env = { ...process.env, ...(isPossible ? { ORION_WITHOUT_NETWORK: '1' } : {}) };
const { status, signal, error } = spawnSync(program, args, { stdio: 'inherit', env });
if (error !== undefined) throw error;
process.exitCode = status ?? (signal === null ? 1 : 128);
