/**
 * One change in a process of its own, so that a tracer or a limit meets nothing else: root, operation, text, and the
 * call before which it is killed.
 */
import type { CommitPart, WriteOperation } from '@orion/contracts';
import { OrionError } from '@orion/contracts';
import { CHANGING_CALLS, interceptDisk } from '@orion/testkit/disk-faults';
import { createWorkspace } from '@orion/workspace';

const [root = '', operation = 'overwrite', text = 'new\n', killAt = ''] = process.argv.slice(2);
if (killAt !== '') {
  const disk = await interceptDisk();
  let calls = 0;
  disk.use((call) => {
    if (!CHANGING_CALLS.has(call.name) || !call.path.startsWith(root)) return null;
    calls += 1;
    return calls > Number(killAt) ? { kind: 'kill', when: 'before' } : null;
  });
}
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
  const added: CommitPart = {
    kind: 'new',
    source: async function* () {
      yield Buffer.from(text);
    },
  };
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
