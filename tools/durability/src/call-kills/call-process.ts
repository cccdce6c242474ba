/** Plays a scenario and is killed by itself at one of its calls. Arguments: root, scenario, call. */
import { flushCompileCache } from 'node:module';

import { interceptDisk } from '@orion/testkit/disk-faults';

import { killAtCall } from '../changes/kill-at-call.ts';
import { openPlain } from '../changes/place.ts';
import { SCENARIOS } from '../changes/scenarios.ts';

const [root = '', name = '', at = ''] = process.argv.slice(2);
const scenario = SCENARIOS.find((each) => each.name === name);
if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
flushCompileCache();
const disk = await interceptDisk();
const workspace = await openPlain(root);
const calls = killAtCall(disk, root, Number(at));
await scenario.run(workspace);
// The one after the last call.
if (Number(at) === calls()) process.kill(process.pid, 'SIGKILL');
process.stdout.write(`${calls()}\n`);
