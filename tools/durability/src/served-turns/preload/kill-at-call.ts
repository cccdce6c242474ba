/** Imported by a server before its own code: kills it before one of the calls that change something in the workspace. */
import { writeFileSync } from 'node:fs';

import { CHANGING_CALLS, interceptDisk } from '@orion/testkit/disk-faults';

const {
  ORION_KILL_ROOT: root = '',
  ORION_KILL_AT: at = '',
  ORION_KILL_COUNT: file = '',
} = process.env;
/** Beside these there are those of the database, which are not seen. */
const OFTEN = /\/(?:content|pending)\.txt$|\/lease\.json/u;
const STATE = /\/\.orion\//u;

let calls = 0;
/** Of those, the ones that put a file in its place. */
const commits: number[] = [];
const disk = await interceptDisk();
disk.use((call) => {
  if (!CHANGING_CALLS.has(call.name) || !call.path.startsWith(root)) return null;
  if (call.name !== 'open' && OFTEN.test(call.path)) return null;
  if (call.name === 'rename' && call.to !== undefined && !STATE.test(call.to)) commits.push(calls);
  calls += 1;
  return calls - 1 === Number(at) ? { kind: 'kill', when: 'before' } : null;
});
process.on('exit', () => writeFileSync(file, JSON.stringify({ calls, commits })));
