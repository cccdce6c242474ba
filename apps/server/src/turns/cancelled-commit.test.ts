/** Hazard: a turn is cancelled while its file is put in its place, and the file, its receipt and its end contradict each other. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { TurnLogEntry } from '@orion/contracts';
import { callsReply, textReply, toolCall } from '@orion/testkit';
import { CHANGING_CALLS, interceptDisk } from '@orion/testkit/disk-faults';
import { expect, it } from 'vitest';

import { doneOf, startTurns } from '../testing/test-turns.ts';

const TEXT = 'one\ntwo\n';
/** Every so many changes of the workspace the turn is cancelled, and last so many after the file is in its place. */
const STEP = 6;
const AFTER = 12;

/** A turn that writes a file and is cancelled right before one of its changes of the workspace; `renamedAt` is the last. */
async function writeCancelledAt(at: number) {
  const begin = toolCall('call-1', 'WritePlanTool_begin', {
    intent: 'test',
    target_file: 'a.txt',
    operation: 'create',
  });
  const { turns, submit, ended, root } = await startTurns({
    replies: [callsReply([begin]), textReply(TEXT, 'DONE\n'), textReply('done')],
  });
  let changes = 0;
  let renamedAt = 0;
  const cancels: Promise<unknown>[] = [];
  let turnId: string | null = null;
  const disk = await interceptDisk();
  disk.use(({ name, path, to }) => {
    if (turnId === null || !CHANGING_CALLS.has(name) || !path.startsWith(root)) return null;
    if (to === join(root, 'a.txt')) renamedAt = changes;
    if (changes === at) cancels.push(turns.service.cancel(turnId));
    changes += 1;
    return null;
  });
  try {
    turnId = await submit({ conversationId: 'c' });
    const events = await ended(turnId);
    await Promise.all(cancels);
    // The conversation is free.
    await submit({ conversationId: 'c' });
    return { events, root, renamedAt };
  } finally {
    disk.restore();
  }
}

const receiptsOf = (events: readonly TurnLogEntry[]) =>
  events.filter(({ kind, data }) => kind === 'write_session' && 'receipt' in (data as object));

it(
  'a cancel at any moment of a commit leaves a whole file with its receipt, or none of either',
  { tags: ['long'], timeout: 180_000 },
  async () => {
    const { renamedAt } = await writeCancelledAt(Number.POSITIVE_INFINITY);
    const outcomes = new Set<string>();
    for (let at = 1 + (renamedAt % STEP); at <= renamedAt + AFTER; at += STEP) {
      const { events, root } = await writeCancelledAt(at);
      const { status } = doneOf(events);
      const files = (await readdir(root)).filter((name) => name !== '.orion');
      const written = receiptsOf(events).length;
      outcomes.add(written === 1 ? 'written' : 'not written');
      expect([at, files, written]).toEqual([at, written === 1 ? ['a.txt'] : [], written]);
      expect(['stopped', 'aborted', 'paused'], `at ${at}`).toContain(status);
      if (written === 1) expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe(TEXT);
    }
    expect(outcomes).toEqual(new Set(['written', 'not written']));
  },
);
