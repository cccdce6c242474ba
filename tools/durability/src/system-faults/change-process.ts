/**
 * One change in a process of its own, so that a tracer or a limit meets nothing else: root, operation, text, and the
 * call before which it is killed.
 */
import type { CommitPart, WriteOperation } from '@orion/contracts';
import { OrionError } from '@orion/contracts';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { createWorkspace } from '@orion/workspace';

import { killAtCall } from '../changes/kill-at-call.ts';
import { newText } from '../changes/new-text.ts';

const [root = '', operation = 'overwrite', text = 'new\n', killAt = ''] = process.argv.slice(2);
if (killAt !== '') killAtCall(await interceptDisk(), root, Number(killAt));
const workspace = await createWorkspace({
  root,
  clock: {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    schedule: () => () => undefined,
  },
});
if (operation === 'start') {
  await workspace.sessions.housekeep();
  process.exit(0);
}
try {
  const expected = await workspace.checkTarget('a.txt', operation as WriteOperation);
  const added = newText(text);
  const kept: CommitPart = { kind: 'kept', start: 0, end: expected.bytes };
  const result = await workspace.commit({
    target: 'a.txt',
    operation: operation as WriteOperation,
    parts: operation === 'append' ? [kept, added] : [added],
    eol: 'as-is',
    expected,
    journal: async () => undefined,
  });
  process.stdout.write(`${JSON.stringify({ sha256: result.sha256 })}\n`);
} catch (error) {
  if (!OrionError.isInstance(error)) throw error;
  process.stdout.write(`${JSON.stringify({ code: error.code, ...error.details })}\n`);
}
