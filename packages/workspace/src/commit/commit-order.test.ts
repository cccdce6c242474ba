/** The order of what a commit does to the disk, as the process itself sees it (A1). */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { interceptDisk } from '@orion/testkit/disk-faults';
import type { DiskCall } from '@orion/testkit/disk-faults';
import { expect, it } from 'vitest';
import { commitRequest, openTestWorkspace } from '../testing/temp-workspace.ts';
import type { TestWorkspace } from '../testing/temp-workspace.ts';

async function callsOf(test: TestWorkspace, step: () => Promise<unknown>): Promise<string[]> {
  const disk = await interceptDisk();
  const calls: DiskCall[] = [];
  disk.use((call) => {
    if (call.path.startsWith(test.root)) calls.push(call);
    return null;
  });
  try {
    await step();
  } finally {
    disk.restore();
  }
  const name = (path: string): string =>
    path
      .slice(test.root.length)
      .replace(/\.orion-[0-9a-f]{16}\.tmp/u, 'TEMP')
      .replace(/\d{8}T\d{9}Z-(?:[0-9a-f]{8}){1,2}/u, 'ID');
  return calls.map((call) =>
    [call.name, name(call.path), call.to === undefined ? '' : name(call.to)].join(' ').trim(),
  );
}

/** The last of each, in the order in which they happened; those that did not are left out. */
function orderOf(calls: readonly string[], wanted: readonly string[]): readonly string[] {
  return calls.filter((call, at) => wanted.includes(call) && calls.lastIndexOf(call) === at);
}

const KEPT = [
  'copyfile /a.txt /.orion/backups/.draft-ID/content',
  'fsync /.orion/backups/.draft-ID/content',
];
const WRITTEN = ['open /TEMP', 'write /TEMP', 'fsync /TEMP', 'close /TEMP'];
const SEALED = [
  'fsync /.orion/backups/.draft-ID/manifest.json',
  'fsync /.orion/backups/.draft-ID',
  'rename /.orion/backups/.draft-ID /.orion/backups/ID',
  'fsync /.orion/backups',
];

it('keeps, writes, syncs, seals, renames, syncs', async () => {
  const test = await openTestWorkspace();
  await writeFile(join(test.root, 'a.txt'), 'old');
  for (const operation of ['overwrite', 'append'] as const) {
    const expected = await test.workspace.checkTarget('a.txt', operation);
    const calls = await callsOf(test, () =>
      test.workspace.commit(commitRequest(operation, expected, 'new')),
    );
    const order = [...KEPT, ...WRITTEN, ...SEALED, 'rename /TEMP /a.txt', 'fsync'];
    expect(orderOf(calls, order)).toEqual(order);
    expect(calls.filter((call) => call.startsWith('write /a.txt'))).toEqual([]);
  }
});

it('makes a new file by a link', async () => {
  const test = await openTestWorkspace();
  // The directories of the first commit are none of what is looked at.
  const first = await test.workspace.checkTarget('first.txt', 'create');
  await test.workspace.commit(commitRequest('create', first, 'x'));
  const expected = await test.workspace.checkTarget('a.txt', 'create');
  const calls = await callsOf(test, () =>
    test.workspace.commit(commitRequest('create', expected, 'new')),
  );
  const order = [...WRITTEN, ...SEALED, 'link /TEMP /a.txt', 'unlink /TEMP', 'fsync'];
  expect(orderOf(calls, order)).toEqual(order);
});

it('takes a file away only after its bytes are kept', async () => {
  const test = await openTestWorkspace();
  const expected = await test.workspace.checkTarget('a.txt', 'create');
  await test.workspace.commit(commitRequest('create', expected, 'new'));
  const calls = await callsOf(test, () => test.workspace.undo({}));
  const order = [...KEPT, ...SEALED, 'unlink /a.txt', 'fsync'];
  expect(orderOf(calls, order)).toEqual(order);
});
