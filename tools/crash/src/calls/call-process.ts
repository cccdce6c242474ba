/** Plays a scenario and is killed by itself at one of its calls. Arguments: root, scenario, call. */
import { openPlain, SCENARIOS } from '@orion/faults';
import { CHANGING_CALLS, interceptDisk } from '@orion/testkit/disk-faults';

const [root = '', name = '', at = ''] = process.argv.slice(2);
const scenario = SCENARIOS.find((each) => each.name === name);
if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
const disk = await interceptDisk();
const workspace = await openPlain(root);
let count = 0;
disk.use((call) => {
  if (!CHANGING_CALLS.has(call.name) || !call.path.startsWith(root)) return null;
  count += 1;
  return count - 1 === Number(at) ? { kind: 'kill', when: 'before' } : null;
});
await scenario.run(workspace);
// The one after the last call.
if (Number(at) === count) process.kill(process.pid, 'SIGKILL');
process.stdout.write(`${count}\n`);
