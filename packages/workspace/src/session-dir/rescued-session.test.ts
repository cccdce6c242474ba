import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { SessionHandle, Workspace } from '@orion/contracts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import {
  codeOf,
  openTestWorkspace,
  RECORD,
  temporaryDirectory,
  textOf,
  beginSession,
} from '../testing/temp-workspace.ts';

const TEXT = 'one\ntwo \uD83D three\n';

let keys: string;

beforeEach(async () => {
  vi.stubEnv('TMPDIR', await temporaryDirectory());
  keys = await temporaryDirectory();
});

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A session that its own disk cannot hold, and where all of it was saved. */
async function rescued(): Promise<{
  readonly root: string;
  readonly file: string;
  readonly handle: SessionHandle;
  readonly again: () => Promise<Workspace>;
}> {
  const root = await temporaryDirectory();
  await writeFile(join(root, '.orion'), 'no folder');
  const { workspace, again } = await openTestWorkspace({ root, userKeyDirectory: keys });
  const handle = await beginSession(workspace, 'docs/a.txt');
  expect(handle.persistence()).toBe('memory');
  handle.append(TEXT);
  handle.setAside('not of the file');
  await handle.save(RECORD).catch(() => undefined);
  const file = await handle.rescue();
  await handle.release();
  return { root, file, handle, again: () => again() };
}

describe('a session in the temporary folder', () => {
  it('V1: is whole, private, and named as nobody can know before', async () => {
    const { file, handle } = await rescued();
    const folder = dirname(file);
    expect(folder.startsWith(join(process.env['TMPDIR'] ?? '', `orion-${handle.id}-`))).toBe(true);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await readdir(folder)).toSorted()).toEqual([
      'content.txt',
      'metadata.json',
      'state.json',
      'trailing.txt',
    ]);
    for (const name of await readdir(folder)) {
      expect((await stat(join(folder, name))).mode & 0o777, name).toBe(0o600);
    }
    expect(JSON.parse(await readFile(join(folder, 'state.json'), 'utf8'))).toMatchObject({
      state: RECORD.state,
      buffer_size: (await readFile(file)).length,
      line_count: 2,
      content_file: 'content.txt',
    });
  });

  it('keeps what was recorded of it, also for whoever looks before it is claimed', async () => {
    const { root, file } = await rescued();
    await rm(join(root, '.orion'));
    const { workspace, again } = await openTestWorkspace({ root, userKeyDirectory: keys });
    const id = await workspace.sessions.adopt(file);
    const [listed] = await (await again()).sessions.list();
    expect(listed).toMatchObject({ session_id: id, state: RECORD.state, lines: 2 });
    const { record, handle } = await workspace.sessions.claim(id);
    expect(record).toEqual(RECORD);
    await handle.release();
    expect(await workspace.sessions.readTurn(id)).toBeNull();
  });

  it('R279: is adopted as a session of its own, on a disk that works again, and gone after it', async () => {
    const { root, file, handle, again } = await rescued();
    await rm(join(root, '.orion'));
    const workspace = await again();
    const id = await workspace.sessions.adopt(file);
    expect(id).not.toBe(handle.id);
    const claimed = await workspace.sessions.claim(id);
    expect(claimed.record).toMatchObject({ state: RECORD.state });
    expect(claimed.notes).toEqual([]);
    expect(claimed.handle.persistence()).toBe('disk');
    expect(claimed.handle.metadata).toMatchObject({ session_id: id, target_file: 'docs/a.txt' });
    const bytes = Buffer.from(await readFile(file));
    expect(await textOf(claimed.handle.readContent())).toBe(bytes.toString());
    expect(await codeOf(workspace.sessions.claim(id))).toBe('SESSION_BUSY');
    const { trailing } = await claimed.handle.remove();
    expect(await readFile(trailing ?? '', 'utf8')).toBe('not of the file');
    expect(existsSync(dirname(file))).toBe(false);
  });

  it('R279: is saved anew by a process whose disk does not work either; the older one goes', async () => {
    const { file, again } = await rescued();
    const workspace = await again();
    const { handle } = await workspace.sessions.claim(await workspace.sessions.adopt(file));
    expect(handle.persistence()).toBe('memory');
    handle.append('four\n');
    const newer = await handle.rescue();
    expect(existsSync(dirname(file))).toBe(false);
    expect(await readFile(newer, 'utf8')).toMatch(/three\nfour\n$/u);
  });

  it('V2: leaves what is not ours where it is', async () => {
    const { root, file, again } = await rescued();
    await writeFile(join(dirname(file), 'notes.txt'), 'mine');
    await rm(join(root, '.orion'));
    const workspace = await again();
    const { handle } = await workspace.sessions.claim(await workspace.sessions.adopt(file));
    await handle.remove();
    expect(await readdir(dirname(file))).toEqual(['notes.txt']);
  });

  it('stays when text that was set aside can go nowhere else, which the receipt says', async () => {
    const { file, again } = await rescued();
    const workspace = await again();
    const { handle } = await workspace.sessions.claim(await workspace.sessions.adopt(file));
    const { warnings } = await handle.remove();
    expect(warnings).toEqual(['trailing_not_moved', dirname(file)]);
    expect(await readFile(join(dirname(file), 'trailing.txt'), 'utf8')).toBe('not of the file');
  });

  it.each<[string, string, (file: string) => Promise<void>]>([
    ['there is no file', 'FILE_NOT_FOUND', (file) => rm(file)],
    ['nothing says what it is', 'SESSION_DAMAGED', (file) => rm(beside(file))],
    ['what says it is unreadable', 'SESSION_DAMAGED', (file) => writeFile(beside(file), '{')],
    ['others can write to its folder', 'SESSION_FOREIGN', (file) => chmod(dirname(file), 0o777)],
    [
      'it was made for another target by somebody else',
      'SESSION_FOREIGN',
      async (file) => {
        const text = await readFile(beside(file), 'utf8');
        await writeFile(beside(file), text.replaceAll('docs/a.txt', 'docs/b.txt'));
      },
    ],
    [
      'the text is a link',
      'FILE_NOT_FOUND',
      async (file) => {
        await writeFile(`${file}.other`, 'x');
        await rm(file);
        await symlink(`${file}.other`, file);
      },
    ],
  ])('V2: is refused when %s: %s', async (_name, code, change) => {
    const { file, again } = await rescued();
    await change(file);
    expect(await codeOf((await again()).sessions.adopt(file))).toBe(code);
  });

  it('is refused in another workspace', async () => {
    const { file } = await rescued();
    const elsewhere = join(await temporaryDirectory(), 'deeper/state');
    await mkdir(dirname(elsewhere));
    const { workspace } = await openTestWorkspace({
      userKeyDirectory: keys,
      stateDirectory: elsewhere,
    });
    await expect(workspace.sessions.adopt(file)).rejects.toMatchObject({
      code: 'USAGE',
      hint: 'Open the workspace it belongs to.',
    });
  });
});

function beside(file: string): string {
  return join(dirname(file), 'metadata.json');
}
