/** Hazard: the bytes that a program uploads are treated like the text of a model. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import {
  beginSession,
  bytesOf,
  metadataFor,
  openTestWorkspace,
  RECORD,
} from '../testing/temp-workspace.ts';

async function upload(bytes: Uint8Array) {
  const test = await openTestWorkspace();
  const { workspace } = test;
  const metadata = { ...(await metadataFor(workspace, 'a.txt')), uploaded: true } as const;
  const handle = await workspace.sessions.begin(metadata);
  handle.appendBytes(bytes);
  await handle.save(RECORD);
  return { ...test, workspace, handle, id: metadata.session_id };
}

const BYTES = Buffer.from([0x61, 0xff, 0x00, 0x0a, 0xe2, 0x82]);

it('any bytes are stored as they are, and stay when the session is claimed again', async () => {
  const { workspace, handle, id } = await upload(BYTES);
  expect(await readFile(handle.contentPath())).toEqual(BYTES);
  await handle.release();
  const { handle: again, notes } = await workspace.sessions.claim(id);
  expect(notes).toEqual([]);
  expect(again.metadata.uploaded).toBe(true);
  expect(await bytesOf(again.readContent())).toEqual(BYTES);
});

it('a part of them can be read, whether this process has the session or not', async () => {
  const { workspace, handle, id } = await upload(BYTES);
  const part = (): Promise<Buffer> => bytesOf(workspace.sessions.readContent(id, 1, 4));
  expect(await part()).toEqual(BYTES.subarray(1, 4));
  await handle.release();
  expect(await part()).toEqual(BYTES.subarray(1, 4));
});

it('no start offers to recover it, and its place is known when it was discarded', async () => {
  const { workspace, handle, id } = await upload(BYTES);
  await handle.release();
  const other = await beginSession(workspace, 'b.txt');
  await other.release();
  expect(await workspace.sessions.find(id)).toMatchObject({ uploaded: true, recoverable: false });
  expect((await workspace.sessions.list('recoverable')).map((each) => each.session_id)).toEqual([
    other.id,
  ]);
  await workspace.sessions.discard(id);
  expect(await workspace.sessions.find(id)).toMatchObject({ discarded: true, bytes: 6 });
  const [listed] = await workspace.sessions.list();
  expect(listed).not.toHaveProperty('discarded');
  await expect(workspace.sessions.find(join('..', id))).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
  });
});
