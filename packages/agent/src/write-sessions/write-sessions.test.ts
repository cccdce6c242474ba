/** Hazard: a program that uploads a text is given another file, another reason or another place to go on than it has. */
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { systemClock } from '@orion/contracts';
import type { Workspace } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it, vi } from 'vitest';

import { begin, breaking, bytes, openUploads } from '../testing/uploads.ts';
import { openOrion, openWorkspace } from '../testing/set-up.ts';

const EVERY_BYTE = Uint8Array.from({ length: 127 }, (_, index) => index + 1);

describe('an upload', () => {
  it('becomes the file byte for byte, whatever its lines say, and can be undone', async () => {
    const { orion, sessions, read } = await openUploads();
    const text = Buffer.from(
      '```\nDONE\n<think>\r\n... rest unchanged\nDONE\nI have written it.\n\n\n',
    );
    const content = Buffer.concat([EVERY_BYTE, text, Buffer.from('\ufeffé😀')]);
    const id = await begin(sessions, 'deep/a.md');
    await sessions.upload(id, 0, bytes(content.subarray(0, 130), content.subarray(130)));
    const written = await sessions.finalize(id, { bytes: content.length });
    expect(await read('deep/a.md')).toEqual(content);
    expect(written).toMatchObject({
      status: 'done',
      operation: 'create',
      target_file: 'deep/a.md',
      receipt: { bytes: content.length, warnings: [], fence_stripped: false },
    });
    expect((await Array.fromAsync(orion.changes()))[0]?.change_id).toBe(id);
    await orion.undo();
    await expect(read('deep/a.md')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('that breaks off keeps what has arrived, and says where it continues', async () => {
    const { sessions, read } = await openUploads();
    const id = await begin(sessions);
    await expect(sessions.upload(id, 0, breaking(Buffer.from('é')))).rejects.toThrow('broke');
    expect(await sessions.find(id)).toMatchObject({ status: 'open', bytes: 2 });
    await expect(sessions.upload(id, 1, bytes('x'))).rejects.toMatchObject({
      code: 'OFFSET_MISMATCH',
      details: { offset: 2 },
    });
    expect(await sessions.upload(id, 2, bytes('b\n'))).toMatchObject({ bytes: 4, lines: 1 });
    await sessions.finalize(id);
    expect((await read('a.txt')).toString()).toBe('éb\n');
  });

  it.each([
    ['finalize', 1],
    ['recover', 1],
    // Between the look at the text and the turn that writes it.
    ['finalize', 2],
  ] as const)(
    'that another process has written meanwhile is told as written (%s, claim %i)',
    async (how, at) => {
      const { orion, sessions, root } = await openUploads();
      const id = await begin(sessions);
      await sessions.upload(id, 0, bytes('ab'));
      await orion.close();
      const faster = await openOrion({ workspace: root });
      const workspace = await openWorkspace(root, systemClock);
      const createWorkspace = (): Promise<Workspace> => Promise.resolve(workspace);
      const { writeSessions } = await openOrion({ workspace: root, createWorkspace });
      const claim = workspace.sessions.claim.bind(workspace.sessions);
      let claims = 0;
      vi.spyOn(workspace.sessions, 'claim').mockImplementation(async (...which) => {
        claims += 1;
        if (claims === at) await faster.writeSessions.finalize(id);
        return claim(...which);
      });
      const written =
        how === 'finalize'
          ? writeSessions.finalize(id)
          : writeSessions.recover(id, { finalize: true });
      expect(await written).toMatchObject({ status: 'done', target_file: 'a.txt' });
    },
  );

  it('ends when its caller aborts it, or the process, although its source gives nothing', async () => {
    const { orion, sessions, root } = await openUploads();
    const id = await begin(sessions);
    async function* stalled(part: string): AsyncGenerator<Uint8Array, void> {
      yield Buffer.from(part);
      await new Promise(() => undefined);
    }
    const abort = new AbortController();
    const first = sessions.upload(id, 0, stalled('ab'), { signal: abort.signal });
    await expect.poll(() => sessions.find(id)).toMatchObject({ status: 'in_use', bytes: 2 });
    await expect(sessions.upload(id, 2, bytes('x'))).rejects.toMatchObject({
      code: 'SESSION_BUSY',
      retryable: true,
    });
    abort.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    const second = sessions.upload(id, 2, stalled('c'));
    await expect.poll(() => sessions.find(id)).toMatchObject({ bytes: 3 });
    const [, failed] = await Promise.allSettled([orion.close(), second]);
    expect(failed).toMatchObject({ reason: { code: 'SERVER_STOPPING' } });
    const again = await openOrion({ workspace: root });
    expect(await again.writeSessions.find(id)).toMatchObject({ status: 'open', bytes: 3 });
    await expect(sessions.finalize(id)).rejects.toMatchObject({ code: 'SERVER_STOPPING' });
    await again.writeSessions.finalize(id);
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('abc');
  });

  it('is refused beyond the limit of a text, and what is below it stays', async () => {
    const { sessions } = await openUploads({ settings: { maxBytes: 100_000 } });
    const id = await begin(sessions);
    const large = Buffer.alloc(80_000, 0x61);
    await sessions.upload(id, 0, bytes(large));
    await expect(sessions.upload(id, 80_000, bytes('bb', large))).rejects.toMatchObject({
      code: 'CONTENT_TOO_LARGE',
      details: { max_bytes: 100_000 },
    });
    expect(await sessions.upload(id, 80_002, bytes(large.subarray(0, 19_998)))).toMatchObject({
      bytes: 100_000,
    });
  });

  it('of another operation has the place, the markers and the line endings of a write plan', async () => {
    const { sessions, root, read } = await openUploads();
    await writeFile(join(root, 'a.txt'), 'one\r\nmark\r\ntwo');
    const write = async (more: Parameters<typeof begin>[2], text: string): Promise<string> => {
      const id = await begin(sessions, 'a.txt', more);
      await sessions.upload(id, 0, bytes(text));
      await sessions.finalize(id);
      return (await read('a.txt')).toString();
    };
    expect(
      await write({ operation: 'insert', location: { marker: 'mark', position: 'after' } }, 'in\n'),
    ).toBe('one\r\nmark\r\nin\r\ntwo');
    expect(
      await write(
        { operation: 'replace', location: { start_marker: 'one', end_marker: 'in' } },
        'between\n',
      ),
    ).toBe('one\r\nbetween\r\nin\r\ntwo');
    expect(await write({ operation: 'append', start_on_new_line: true }, 'end')).toBe(
      'one\r\nbetween\r\nin\r\ntwo\r\nend',
    );
    expect(await write({ operation: 'overwrite', final_newline: false }, 'new\n')).toBe('new');
    expect(await write({ operation: 'append' }, 'joined')).toBe('newjoined');
  });
});

describe('begin', () => {
  it.each([
    ['outside of the workspace', '../a.txt', 'INVALID_TARGET'],
    ['that is protected', '.git/config', 'PROTECTED_PATH'],
    ['that is there', 'there.txt', 'FILE_EXISTS'],
    ['behind a link that leads out', 'out/a.txt', 'INVALID_TARGET'],
    ['with U+0000', 'a\0b', 'INVALID_TARGET'],
    ['with half a character', 'a\ud83d', 'INVALID_TARGET'],
    ['without a name', '  ', 'INVALID_TOOL_ARGUMENTS'],
    ['that is a folder', 'folder', 'IS_DIRECTORY'],
  ])('refuses a target %s, and leaves nothing behind', async (_name, target, code) => {
    const { sessions, root } = await openUploads();
    await writeFile(join(root, 'there.txt'), 'x');
    await mkdir(join(root, 'folder'));
    await symlink('/tmp', join(root, 'out'));
    await expect(begin(sessions, target)).rejects.toMatchObject({ code });
    expect(await sessions.list()).toEqual([]);
  });

  it('is refused where no change is approved, and for more than a few words', async () => {
    const refusing = await openUploads({ approve: 'never' });
    await expect(begin(refusing.sessions)).rejects.toMatchObject({ code: 'APPROVAL_REFUSED' });
    const intent = 'x'.repeat(17_000);
    await expect(begin(refusing.sessions, 'a.txt', { intent })).rejects.toMatchObject({
      code: 'ARGUMENTS_TOO_LARGE',
    });
  });

  it('with an id of the caller begins one session, however often and however close', async () => {
    const { sessions } = await openUploads();
    const sessionId = '11111111-1111-4111-8111-111111111111';
    const request = { intent: 'x', target_file: 'a.txt', operation: 'create' } as const;
    const all = await Promise.all(
      Array.from({ length: 20 }, () => sessions.begin(request, { sessionId })),
    );
    expect(new Set(all.map(({ session_id }) => session_id))).toEqual(new Set([sessionId]));
    await sessions.upload(sessionId, 0, bytes('a'));
    expect(await sessions.begin(request, { sessionId })).toMatchObject({ bytes: 1 });
    await sessions.finalize(sessionId);
    expect(await sessions.begin(request, { sessionId })).toMatchObject({ status: 'done' });
    expect(await sessions.list()).toEqual([]);
  });

  it('that is being begun is found once it has begun, or has not', async () => {
    const { sessions } = await openUploads();
    const sessionId = '22222222-2222-4222-8222-222222222222';
    const beginAndFind = async (target_file: string) => {
      const request = { intent: 'x', target_file, operation: 'create' } as const;
      const begun = sessions.begin(request, { sessionId, isNew: true });
      const [, found] = await Promise.allSettled([begun, sessions.find(sessionId)]);
      return found;
    };
    expect(await beginAndFind('../outside')).toMatchObject({
      reason: { code: 'SESSION_NOT_FOUND' },
    });
    expect(await beginAndFind('a')).toMatchObject({ value: { status: 'open' } });
  });

  it('holds its target against another session', async () => {
    const { sessions } = await openUploads();
    await begin(sessions);
    await expect(begin(sessions)).rejects.toMatchObject({ code: 'TARGET_LOCKED' });
  });
});

describe('finalize', () => {
  it('writes an empty file only where that is asked for, and only a new one', async () => {
    const { sessions, root, read } = await openUploads();
    await writeFile(join(root, 'old.txt'), 'old');
    const id = await begin(sessions);
    const empty = { code: 'EMPTY_CONTENT', hint: expect.stringContaining('allowEmpty') as string };
    await expect(sessions.finalize(id)).rejects.toMatchObject(empty);
    expect(await sessions.finalize(id, { allowEmpty: true })).toMatchObject({ status: 'done' });
    expect(await read('a.txt')).toHaveLength(0);
    const other = await begin(sessions, 'old.txt', { operation: 'overwrite' });
    await expect(sessions.finalize(other, { allowEmpty: true })).rejects.toMatchObject(empty);
    expect((await read('old.txt')).toString()).toBe('old');
  });

  it('writes nothing when another number of bytes is stored than was sent', async () => {
    const { sessions } = await openUploads();
    const id = await begin(sessions);
    await sessions.upload(id, 0, bytes('abc'));
    await expect(sessions.finalize(id, { bytes: 4 })).rejects.toMatchObject({
      code: 'OFFSET_MISMATCH',
      details: { offset: 3 },
    });
    expect(await sessions.finalize(id, { bytes: 3 })).toMatchObject({ status: 'done' });
  });

  it('does not overwrite what somebody changed, until that is decided', async () => {
    const { sessions, root, read } = await openUploads();
    await writeFile(join(root, 'a.txt'), 'old');
    const id = await begin(sessions, 'a.txt', { operation: 'overwrite' });
    await sessions.upload(id, 0, bytes('new'));
    await writeFile(join(root, 'a.txt'), 'by hand');
    await expect(sessions.finalize(id)).rejects.toMatchObject({
      code: 'TARGET_CHANGED',
      hint: expect.not.stringContaining('--') as string,
    });
    expect(await sessions.find(id)).toMatchObject({ status: 'paused', code: 'TARGET_CHANGED' });
    await expect(sessions.recover(id, { onConflict: 'overwrite' })).rejects.toMatchObject({
      code: 'USAGE',
    });
    const beside = await sessions.recover(id, { finalize: true, onConflict: 'keep-both' });
    expect(beside).toMatchObject({ target_file: `a.orion-${id.slice(0, 4)}.txt` });
    expect((await read('a.txt')).toString()).toBe('by hand');
    const second = await begin(sessions, 'a.txt', { operation: 'overwrite' });
    await sessions.upload(second, 0, bytes('newer'));
    await writeFile(join(root, 'a.txt'), 'by hand again');
    await expect(sessions.finalize(second)).rejects.toMatchObject({ code: 'TARGET_CHANGED' });
    await sessions.recover(second, { finalize: true, onConflict: 'overwrite' });
    expect((await read('a.txt')).toString()).toBe('newer');
  });

  it('asks its reviewer about the bytes, and keeps the session when the answer is no', async () => {
    const seen: string[] = [];
    const { sessions } = await openUploads({
      approve: async ({ changes }) => {
        for (const change of changes) for await (const line of change.diff()) seen.push(line);
        return { approved: seen.includes('+yes'), reason: 'not like this' };
      },
    });
    const id = await begin(sessions);
    await sessions.upload(id, 0, bytes('no\n'));
    await expect(sessions.finalize(id)).rejects.toMatchObject({
      code: 'APPROVAL_REFUSED',
      message: 'not like this',
    });
    await sessions.upload(id, 3, bytes('yes\n'));
    expect(await sessions.finalize(id)).toMatchObject({ status: 'done' });
    expect(seen).toContain('+no');
  });

  it('is answered again with what came of it, after a restart too', async () => {
    const { orion, sessions, root } = await openUploads();
    const id = await begin(sessions);
    await sessions.upload(id, 0, bytes('abc'));
    const written = await sessions.finalize(id);
    expect(await sessions.finalize(id)).toEqual(written);
    await expect(sessions.upload(id, 3, bytes('d'))).rejects.toMatchObject({
      code: 'SESSION_WRITTEN',
      details: { target_file: 'a.txt', sha256: written.status === 'done' ? written.sha256 : '' },
    });
    await orion.close();
    const again = await openOrion({ workspace: root });
    const known = { ...written, receipt: null };
    expect(await again.writeSessions.finalize(id)).toEqual(known);
    expect(await again.writeSessions.recover(id)).toEqual(known);
    expect(await again.writeSessions.find(id)).toEqual(known);
  });
});

describe('text that is not valid', () => {
  it('is reported place by place, and corrected in up to three rounds', async () => {
    const { sessions, read } = await openUploads();
    const id = await begin(sessions);
    await expect(sessions.correct(id, [])).rejects.toMatchObject({ code: 'EMPTY_CONTENT' });
    await sessions.upload(id, 0, bytes(Buffer.from('a\xffb\0c\xed\xa0\x80d\xe2\x82', 'latin1')));
    await expect(sessions.correct(id, [])).rejects.toMatchObject({ code: 'USAGE' });
    const asked = await sessions.finalize(id);
    expect(asked).toMatchObject({
      status: 'needs_corrections',
      invalid_count: 4,
      attempt: 1,
      invalid_contexts: [
        { index: 1, byte_offset: 1, code: 'unexpected_byte' },
        { index: 2, byte_offset: 3, code: 'nul' },
        { index: 3, byte_offset: 5, byte_length: 3, code: 'surrogate' },
        { index: 4, byte_offset: 9, byte_length: 2, code: 'truncated' },
      ],
    });
    expect(await sessions.finalize(id)).toEqual(asked);
    await expect(sessions.correct(id, [{ index: 9, text: 'x' }])).rejects.toMatchObject({
      code: 'USAGE',
    });
    const second = await sessions.correct(id, [{ index: 1, text: 'É' }]);
    expect(second).toMatchObject({ attempt: 2, invalid_count: 3 });
    await expect(sessions.upload(id, 11, bytes('\xac'))).rejects.toMatchObject({
      code: 'UPLOAD_CLOSED',
    });
    expect(await sessions.correct(id, [])).toMatchObject({ attempt: 3, invalid_count: 3 });
    const written = await sessions.correct(id, [{ index: 2, text: '' }]);
    expect(written).toMatchObject({
      receipt: {
        validation_summary: { attempts: 3, invalid_found: 4, corrected: 2, replaced: 2 },
      },
    });
    expect((await read('a.txt')).toString()).toBe('aÉb\ufffdcd\ufffd');
  });

  it('at its end may be completed by the rest of the upload', async () => {
    const { sessions, read } = await openUploads();
    const id = await begin(sessions);
    const euro = Buffer.from('€');
    await sessions.upload(id, 0, bytes(euro.subarray(0, 2)));
    expect(await sessions.finalize(id)).toMatchObject({ status: 'needs_corrections' });
    expect(await sessions.upload(id, 2, bytes(euro.subarray(2)))).toMatchObject({ status: 'open' });
    expect(await sessions.finalize(id)).toMatchObject({
      receipt: { validation_summary: { invalid_found: 0 } },
    });
    expect(await read('a.txt')).toEqual(euro);
  });
});

describe('between two calls', () => {
  it('a session is released after a while, and taken again by the next one', async () => {
    const clock = createFakeClock();
    const { orion, sessions } = await openUploads({ clock });
    const id = await begin(sessions);
    await sessions.upload(id, 0, bytes('ab'));
    const isHeld = async (): Promise<boolean> => (await orion.listSessions())[0]?.status === 'live';
    expect(await isHeld()).toBe(true);
    await clock.advance(59_000);
    await sessions.upload(id, 2, bytes('c'));
    await clock.advance(59_000);
    expect(await isHeld()).toBe(true);
    await clock.advance(2000);
    await expect.poll(isHeld).toBe(false);
    expect(await sessions.find(id)).toMatchObject({ status: 'open', bytes: 3 });
    expect(await sessions.upload(id, 3, bytes('d'))).toMatchObject({ bytes: 4 });
  });

  it('no more of them are kept open than 64', async () => {
    const { orion, sessions } = await openUploads();
    const ids: string[] = [];
    for (let index = 0; index < 70; index += 1) ids.push(await begin(sessions, `${index}.txt`));
    const held = async (): Promise<number> =>
      (await orion.listSessions()).filter(({ status }) => status === 'live').length;
    await expect.poll(held).toBe(64);
    expect(await sessions.upload(ids[0] ?? '', 0, bytes('x'))).toMatchObject({ bytes: 1 });
  });

  it('another process has it as soon as it is released, and one of them at a time', async () => {
    const { sessions, root } = await openUploads();
    const other = await openUploads({ workspace: root });
    const id = await begin(sessions);
    expect(await other.sessions.find(id)).toMatchObject({ status: 'in_use' });
    await expect(other.sessions.upload(id, 0, bytes('x'))).rejects.toMatchObject({
      code: 'SESSION_BUSY',
    });
  });
});

describe('a session that is put aside', () => {
  it('can be brought back', async () => {
    const { sessions, read } = await openUploads();
    const id = await begin(sessions);
    await sessions.upload(id, 0, bytes('ab'));
    const { attic } = await sessions.discard(id);
    expect((await readdir(attic)).length).toBeGreaterThan(0);
    expect(await sessions.list()).toEqual([]);
    expect(await sessions.find(id)).toMatchObject({ status: 'discarded', bytes: 2 });
    const code = 'SESSION_ABORTED';
    await expect(sessions.upload(id, 2, bytes('c'))).rejects.toMatchObject({ code });
    await expect(sessions.finalize(id)).rejects.toMatchObject({ code });
    expect(await sessions.recover(id)).toMatchObject({ status: 'open', bytes: 2 });
    await sessions.upload(id, 2, bytes('c'));
    await sessions.finalize(id);
    expect((await read('a.txt')).toString()).toBe('abc');
  });

  it('is unknown under any other name', async () => {
    const { sessions } = await openUploads();
    for (const id of ['x', '../sessions', '11111111-1111-4111-8111-111111111111', '']) {
      const code = 'SESSION_NOT_FOUND';
      await expect(sessions.find(id)).rejects.toMatchObject({ code });
      await expect(sessions.upload(id, 0, bytes('x'))).rejects.toMatchObject({ code });
      await expect(sessions.discard(id)).rejects.toMatchObject({ code });
      await expect(sessions.recover(id)).rejects.toMatchObject({ code });
      await expect(sessions.finalize(id)).rejects.toMatchObject({ code });
    }
  });
});

describe('the change that would be made', () => {
  it('is shown before it is made, as far as it is asked for', async () => {
    const { orion, sessions, root } = await openUploads();
    await writeFile(join(root, 'a.txt'), 'one\ntwo\n');
    const id = await begin(sessions, 'a.txt', { operation: 'append', final_newline: false });
    await sessions.upload(id, 0, bytes(Buffer.from('t\xff\n', 'latin1')));
    const shown = await sessions.diff(id);
    expect(shown).toMatchObject({ target_file: 'a.txt', truncated: false });
    expect(shown.diff).toContain(' two\n+t\ufffd\n\\ No newline');
    expect((await orion.listSessions())[0]?.status).toBe('live');
    expect(await sessions.diff(id, 40)).toMatchObject({ truncated: true });
    expect(await sessions.upload(id, 3, bytes('x'))).toMatchObject({ bytes: 4 });
  });

  it('is waited for by whoever writes what it shows', async () => {
    const { sessions, read } = await openUploads();
    const id = await begin(sessions);
    await sessions.upload(id, 0, bytes('ab'));
    const looks = [sessions.diff(id), sessions.diff(id)];
    const written = sessions.recover(id, { finalize: true });
    expect(await Promise.all(looks)).toMatchObject([{ truncated: false }, { truncated: false }]);
    expect(await written).toMatchObject({ status: 'done' });
    expect((await read('a.txt')).toString()).toBe('ab');
  });

  it.each(['overwrite', 'create'] as const)(
    'by %s is that of the file as it is now, not as it was when the session began',
    async (operation) => {
      const { sessions, root } = await openUploads();
      const file = join(root, 'a.txt');
      if (operation === 'overwrite') await writeFile(file, 'old\n');
      const id = await begin(sessions, 'a.txt', { operation });
      await sessions.upload(id, 0, bytes('new\n'));
      await writeFile(file, 'edited by somebody\n');
      const { diff } = await sessions.diff(id);
      expect(diff.split('\n').slice(3)).toEqual(['-edited by somebody', '+new', '']);
    },
  );
});
