/** Hazard: a process dies while it writes an uploaded file, and the next call writes it again, or not at all. */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { WriteOperation } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { openWriteTool, RECORD, temporaryDirectory, WHOLE } from '../testing/set-up.ts';
import { bytes, openUploads } from '../testing/uploads.ts';

/** A session whose file is written, and whose process ended before it could say so. */
async function committed(operation: WriteOperation = 'create') {
  const root = await temporaryDirectory();
  if (operation !== 'create') await writeFile(join(root, 'a.txt'), 'old\n');
  const { tool, workspace } = await openWriteTool(root);
  const sessionId = randomUUID();
  const request = { intent: 'x', target_file: 'a.txt', operation, final_newline: true };
  const { handle } = await tool.begin({ ...request, upload: { sessionId } });
  handle.appendBytes(Buffer.from('line\nDONE\nsaid\n'));
  await handle.save({ ...RECORD, has_ended: true, state: 'session_active.finalizing' });
  const outcome = await tool.finalizeSession(sessionId, handle.contentPath(), WHOLE);
  expect(outcome.kind).toBe('written');
  await workspace.close();
  return { ...(await openUploads({ workspace: root })), id: sessionId };
}

describe('a commit that its process did not survive', () => {
  it.each(['finalize', 'recover'] as const)('is found by %s, with its receipt', async (call) => {
    const { sessions, orion, id, read } = await committed('append');
    expect(await sessions.find(id)).toMatchObject({ status: 'finalizing' });
    expect(await sessions[call](id)).toMatchObject({
      status: 'done',
      receipt: { lines: 3, warnings: ['committed_before_the_interruption'], inner_done_lines: [] },
    });
    expect((await read('a.txt')).toString()).toBe('old\nline\nDONE\nsaid\n');
    expect(await Array.fromAsync(orion.changes())).toHaveLength(1);
    expect(await sessions.list()).toEqual([]);
    expect(await sessions.find(id)).toMatchObject({ status: 'done' });
  });

  it('takes no further bytes', async () => {
    const { sessions, id } = await committed();
    await expect(sessions.upload(id, 15, bytes('more'))).rejects.toMatchObject({
      code: 'SESSION_WRITTEN',
    });
    expect(await sessions.find(id)).toMatchObject({ status: 'done' });
  });

  it('is not repeated where the file was changed since', async () => {
    const { sessions, root, id, read } = await committed('append');
    await writeFile(join(root, 'a.txt'), 'by hand\n');
    await expect(sessions.finalize(id)).rejects.toMatchObject({
      code: 'TARGET_CHANGED',
      message: expect.stringContaining('a.txt has its text already') as string,
    });
    expect((await read('a.txt')).toString()).toBe('by hand\n');
    const beside = await sessions.recover(id, { finalize: true, onConflict: 'keep-both' });
    expect(beside).toMatchObject({ status: 'done', operation: 'create' });
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('by hand\n');
  });
});

describe('a session of a model', () => {
  it('is shown, written by hand and put aside here, but takes no bytes', async () => {
    const root = await temporaryDirectory();
    const { tool, workspace } = await openWriteTool(root);
    const ids: string[] = [];
    for (const target_file of ['a.txt', 'b.txt']) {
      const request = {
        intent: 'x',
        target_file,
        operation: 'create',
        final_newline: true,
      } as const;
      const { handle } = await tool.begin(request);
      handle.append('text\n');
      await handle.save(RECORD);
      ids.push(handle.id);
    }
    await workspace.close();
    const { sessions, read } = await openUploads({ workspace: root });
    const [id = '', other = ''] = ids;
    expect(await sessions.find(id)).toMatchObject({ status: 'paused', uploaded: false, bytes: 5 });
    const code = 'USAGE';
    await expect(sessions.upload(id, 5, bytes('x'))).rejects.toMatchObject({ code });
    await expect(sessions.finalize(id)).rejects.toMatchObject({ code });
    await expect(sessions.correct(id, [])).rejects.toMatchObject({ code });
    await expect(sessions.recover(id)).rejects.toMatchObject({
      code,
      message: expect.stringContaining('only a turn continues it') as string,
    });
    expect((await sessions.diff(id)).diff).toContain('+text');
    expect(await sessions.recover(id, { finalize: true })).toMatchObject({
      receipt: { warnings: ['finalized_by_hand'] },
    });
    expect((await read('a.txt')).toString()).toBe('text\n');
    expect(await sessions.discard(other)).toMatchObject({ status: 'discarded' });
  });

  it('and no model continues what a program uploads', async () => {
    const { orion, sessions, root } = await openUploads();
    const { session_id: id } = await sessions.begin({
      intent: 'x',
      target_file: 'a.txt',
      operation: 'create',
    });
    await sessions.upload(id, 0, bytes('half'));
    await orion.close();
    const again = await openUploads({ workspace: root });
    const codes: string[] = [];
    for await (const event of again.orion.recoverSession({ sessionId: id }))
      if (event.type === 'error') codes.push(event.error.code);
    expect(codes).toEqual(['USAGE']);
    expect(await again.orion.listSessions('recoverable')).toEqual([]);
    const [listing] = await again.orion.listSessions();
    const commands = listing === undefined ? [] : again.orion.describeSession(listing).commands;
    expect(commands).toEqual([
      `orion recover-session ${id} --finalize`,
      `orion recover-session ${id} --discard`,
    ]);
    const statuses: string[] = [];
    for await (const event of again.orion.finalizeSession({ sessionId: id }))
      if (event.type === 'write_session') statuses.push(event.status);
    expect(statuses.at(-1)).toBe('done');
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('half');
  });
});
