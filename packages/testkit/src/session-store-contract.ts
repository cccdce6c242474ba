/** What every implementation of `SessionStore` promises. */
import { readFile } from 'node:fs/promises';

import type {
  CommitResult,
  SessionHandle,
  SessionMetadata,
  SessionRecord,
  TurnRecord,
  Workspace,
  WritingRecord,
} from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { codeOf, commitText as commit } from './commit-text.ts';
import { SESSION_RECORD, TURN_RECORD } from './records.ts';
import type { WorkspaceUnderTest } from './workspace-contract.ts';

/** `isDoomed`: whoever opens the workspace again finds that the process of this one is dead, which works on. */
export type SessionStoreFactory = (options?: {
  readonly isDoomed?: boolean;
}) => Promise<WorkspaceUnderTest>;

const record: SessionRecord = { ...SESSION_RECORD, idle_prompts: 1 };

const turn: TurnRecord = {
  ...TURN_RECORD,
  messages: [{ role: 'user', content: 'Write it.\u0000\ud83d' }],
};

const result: CommitResult = {
  path: 'a.txt',
  bytes: 4,
  lines: 1,
  sha256: '0'.repeat(64),
  eol: 'none',
  bom: false,
  mode: '0644',
  warnings: [],
  not_kept: [],
};

const writing: WritingRecord = { temp: 'none.tmp', before: null, after: '0'.repeat(64), result };

export function describeSessionStoreContract(name: string, create: SessionStoreFactory): void {
  describe(`${name}: SessionStore`, () => {
    it('gives back what was appended, saved or not, with lone surrogates', async () => {
      const { handle } = await begun(await create());
      handle.append('a\ud83d');
      handle.append('\ude00\n');
      expect((await handle.save(record)).durableBytes).toBe(6);
      expect(handle.savedBytes()).toBe(6);
      handle.append('\ud83dx');
      expect(handle.bytes()).toBe(10);
      const bytes = await bytesOf(handle.readContent());
      expect(Buffer.from(bytes).toString('hex')).toBe('61f09f98800aeda0bd78');
      expect(Buffer.from(await bytesOf(handle.readContent(1, 5))).toString('utf8')).toBe('😀');
    });

    it('starts over with everything so far set aside', async () => {
      const test = await create();
      const { handle } = await begun(test);
      handle.append('the first text\n');
      await handle.save(record);
      handle.append('unsaved');
      await handle.startOver(record);
      expect(handle.bytes()).toBe(0);
      handle.append('the second text\n');
      await handle.save(record);
      await handle.release();
      const again = await test.reopen();
      const claimed = await again.sessions.claim(handle.id);
      expect(Buffer.from(await bytesOf(claimed.handle.readContent())).toString()).toBe(
        'the second text\n',
      );
      expect(await removed(claimed.handle)).toBe('the first text\nunsaved');
    });

    it.each(['', 'aside \u{1f600}'])(
      'keeps what it had when it started over, behind what was set aside (%j) and before what is later',
      async (aside) => {
        const test = await create();
        const startedOver = async (): Promise<SessionHandle> => {
          const { handle } = await begun(test);
          handle.append('\u{1f600} the first');
          await handle.save(record);
          handle.append(' \u{1f600}');
          handle.setAside(aside);
          await handle.startOver(record);
          handle.append('the second');
          return handle;
        };
        const kept = `${aside}\u{1f600} the first \u{1f600}`;
        expect(await removed(await startedOver())).toBe(kept);

        const handle = await startedOver();
        handle.setAside(' saved \u{1f600}');
        await handle.save(record);
        handle.setAside(' and not');
        const path = await handle.rescue();
        await handle.release();
        const { sessions } = test.workspace;
        const { handle: adopted } = await sessions.claim(await sessions.adopt(path));
        expect(await removed(adopted)).toBe(`${kept} saved \u{1f600} and not`);
      },
    );

    it('keeps undecided text apart until it is decided', async () => {
      const { handle } = await begun(await create());
      handle.append('content');
      handle.appendPending('may');
      handle.appendPending('be');
      expect(await joined(handle.readPending())).toBe('maybe');
      handle.clearPending();
      expect(await joined(handle.readPending())).toBe('');
      expect(handle.bytes()).toBe(7);
    });

    it('holds a target for one session at a time', async () => {
      const test = await create();
      const { handle } = await begun(test);
      const metadata = await metadataFor(test, 'a.txt');
      expect(await codeOf(test.workspace.sessions.begin(metadata))).toBe('TARGET_LOCKED');
      await handle.remove();
      await (await test.workspace.sessions.begin(metadata)).release();
    });

    it('lists a session as live while it is owned, and gives it to nobody else', async () => {
      const test = await create();
      const { handle } = await begun(test);
      expect(await test.workspace.sessions.list()).toMatchObject([
        { session_id: handle.id, status: 'live', target_file: 'a.txt', recoverable: false },
      ]);
      expect(await codeOf(test.workspace.sessions.claim(handle.id))).toBe('SESSION_BUSY');
      expect((await test.workspace.sessions.clean({ all: true })).moved).toEqual([]);
    });

    it('lists those alone whose id is wanted', async () => {
      const test = await create();
      const { handle } = await begun(test);
      await test.workspace.sessions.begin(await metadataFor(test, 'b.txt'));
      const ids = async (wanted: readonly string[]): Promise<readonly string[]> =>
        (await test.workspace.sessions.list('all', (id) => wanted.includes(id))).map(
          ({ session_id: id }) => id,
        );
      expect(await ids([handle.id])).toEqual([handle.id]);
      expect(await ids([])).toEqual([]);
    });

    it('lists when a session was taken over, once that is saved, and not of one that only began', async () => {
      const test = await create();
      const { handle } = await begun(test);
      handle.append('text\n');
      await handle.save(record);
      const recovered = async (): Promise<unknown> =>
        (await test.workspace.sessions.list()).find(({ session_id: id }) => id === handle.id)
          ?.recovered_at;
      expect(await recovered()).toBeUndefined();
      await handle.release();
      const { handle: claimed } = await test.workspace.sessions.claim(handle.id);
      await claimed.save(record);
      expect(await recovered()).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u);
      await claimed.release();
      expect(await recovered()).toMatch(/^\d{4}-/u);
    });

    it('lets a released session be claimed once, with everything it held', async () => {
      const test = await create();
      const { handle } = await begun(test);
      handle.append('one\ntwo\n');
      handle.appendPending('undecided');
      await handle.save(record);
      await handle.release();
      const again = await test.reopen();
      expect(await again.sessions.list()).toMatchObject([
        { session_id: handle.id, status: 'orphan', lines: 2, bytes: 8, recoverable: true },
      ]);
      const claims = await Promise.allSettled([
        again.sessions.claim(handle.id),
        again.sessions.claim(handle.id),
      ]);
      const won = claims.filter((claim) => claim.status === 'fulfilled');
      expect(won).toHaveLength(1);
      const claimed = won[0]?.value;
      expect(claimed?.record).toMatchObject({ idle_prompts: 1 });
      expect(claimed?.notes).toHaveLength(1);
      expect(claimed?.handle.bytes()).toBe(8);
      expect(await joined(claimed?.handle.readPending() ?? noText())).toBe('');
      await claimed?.handle.release();
    });

    it('finds a discarded session again', async () => {
      const test = await create();
      const { handle } = await begun(test);
      handle.append('text');
      await handle.save(record);
      await handle.discard();
      expect(await test.workspace.sessions.list()).toEqual([]);
      const claimed = await test.workspace.sessions.claim(handle.id);
      expect(Buffer.from(await bytesOf(claimed.handle.readContent())).toString()).toBe('text');
      await claimed.handle.release();
    });

    it('leaves nothing after remove but text that was set aside', async () => {
      const test = await create();
      const { handle } = await begun(test);
      handle.append('text');
      handle.setAside('aside');
      const { trailing } = await handle.remove();
      expect(trailing).toBeTypeOf('string');
      expect(await test.workspace.sessions.list()).toEqual([]);
      expect(await codeOf(test.workspace.sessions.claim(handle.id))).toBe('SESSION_NOT_FOUND');
    });

    it('knows what became of a commit', async () => {
      const test = await create();
      const { handle } = await begun(test);
      await handle.recordWriting(writing);
      expect(await handle.resolveWriting(writing)).toBe('before');
      const made = await commit(test.workspace, 'a.txt', 'create', 'text');
      const after = { ...writing, after: made.sha256 };
      expect(await handle.resolveWriting(after)).toBe('after');
      await test.write('a.txt', 'of another');
      const other = { ...result, backup_id: made.backup_id ?? '' };
      const overtaken = { ...after, result: other };
      await handle.recordWriting(overtaken);
      expect(await handle.resolveWriting(overtaken)).toBe('changed_after');
      // Its evidence may be gone when the next owner asks.
      await handle.save(record);
      await handle.release();
      const claimed = await (await test.reopen()).sessions.claim(handle.id);
      expect(claimed.writing).toMatchObject({ after: made.sha256, stands: true });
      await claimed.handle.release();
    });

    it('does not know ids that are none', async () => {
      const test = await create();
      for (const id of ['', '../x', test.createId().toUpperCase(), test.createId()]) {
        expect(await codeOf(test.workspace.sessions.claim(id))).toBe('SESSION_NOT_FOUND');
      }
    });

    it('keeps what an upload says that is no text', async () => {
      const test = await create();
      const metadata = await metadataFor(test, 'a.txt');
      const handle = await test.workspace.sessions.begin({ ...metadata, uploaded: true });
      handle.appendBytes(Uint8Array.of(0xff, 0, 0x80));
      await handle.save(record);
      await handle.release();
      const { handle: claimed } = await (await test.reopen()).sessions.claim(handle.id);
      expect([...(await bytesOf(claimed.readContent()))]).toEqual([0xff, 0, 0x80]);
      await claimed.release();
    });

    it('stores the turn with the session, and every later one', async () => {
      const test = await create();
      const metadata = await metadataFor(test, 'a.txt');
      const handle = await test.workspace.sessions.begin(metadata, turn);
      expect(await test.workspace.sessions.readTurn(handle.id)).toEqual(turn);
      await handle.saveTurn({ ...turn, model: 'another' });
      await handle.release();
      const claimed = await (await test.reopen()).sessions.claim(handle.id);
      expect(claimed.turn).toEqual({ ...turn, model: 'another' });
      await claimed.handle.release();
    });

    it('reads a part of a text that nobody has claimed', async () => {
      const test = await create();
      const { handle } = await begun(test);
      handle.append('0123456789'.repeat(20_000));
      await handle.save(record);
      handle.append('abc');
      await handle.save(record);
      await handle.release();
      const { sessions } = await test.reopen();
      const read = async (start: number, end?: number): Promise<string> =>
        Buffer.from(await bytesOf(sessions.readContent(handle.id, start, end))).toString();
      expect(await read(199_998)).toBe('89abc');
      expect(await read(65_534, 65_540)).toBe('456789');
      expect(await read(200_001, 200_002)).toBe('b');
      expect((await read(0)).length).toBe(200_003);
      expect(await read(300_000)).toBe('');
    });

    it('reads a text that was saved in many parts', async () => {
      const test = await create();
      const { handle } = await begun(test);
      const parts = Array.from({ length: 20 }, (_, index) => `part ${index}\n`);
      for (const part of parts) {
        handle.append(part);
        await handle.save(record);
      }
      await handle.release();
      const { sessions } = await test.reopen();
      const whole = parts.join('');
      const start = whole.indexOf('part 8\n');
      const read = async (from?: number, to?: number): Promise<string> =>
        Buffer.from(await bytesOf(sessions.readContent(handle.id, from, to))).toString();
      expect(await read()).toBe(whole);
      expect(await read(start, start + 7)).toBe('part 8\n');
    });

    it('goes on after the saved text of an owner that is dead, which stores nothing any more', async () => {
      const test = await create({ isDoomed: true });
      const { handle: old } = await begun(test);
      old.append('saved\n');
      await old.save(record);
      const other = await test.reopen();
      const { handle } = await other.sessions.claim(old.id);
      handle.append('of the next\n');
      await handle.save(record);
      old.append('late\n');
      await old.save(record).catch(() => undefined);
      expect(old.lost.aborted).toBe(true);
      expect(Buffer.from(await bytesOf(handle.readContent())).toString()).toBe(
        'saved\nof the next\n',
      );
      expect(await codeOf(old.recordWriting(writing))).toBe('SESSION_BUSY');
      expect(await codeOf(other.sessions.claim(old.id))).toBe('SESSION_BUSY');
      await old.release();
      expect(await other.sessions.list()).toMatchObject([{ session_id: old.id, status: 'live' }]);
      await handle.release();
    });

    it('gives the target of a dead owner to a new session, and the dead one to whoever waits for it', async () => {
      const test = await create({ isDoomed: true });
      const { handle: old } = await begun(test);
      old.append('text');
      await old.save(record);
      const other = await test.reopen();
      const metadata = await metadataFor({ ...test, workspace: other }, 'a.txt');
      const handle = await other.sessions.begin(metadata);
      expect(await codeOf(other.sessions.claim(old.id))).toBe('TARGET_LOCKED');
      await handle.remove();
      const claimed = await other.sessions.claim(old.id);
      expect(claimed.handle.bytes()).toBe(4);
      await claimed.handle.release();
    });

    it('hands a decided commit to the next owner', async () => {
      const test = await create({ isDoomed: true });
      const { handle: old } = await begun(test);
      old.append('text');
      await old.save({ ...record, idle_prompts: 3 });
      await old.recordWriting(writing);
      const other = await test.reopen();
      const claimed = await other.sessions.claim(old.id);
      expect(claimed.writing).toEqual(writing);
      expect(claimed.record).toMatchObject({ idle_prompts: 3 });
      expect(await claimed.handle.resolveWriting(writing)).toBe('before');
      await claimed.handle.save(record);
      await claimed.handle.release();
      const again = await (await test.reopen()).sessions.claim(old.id);
      expect(again.writing).toBeNull();
      await again.handle.release();
    });

    it('counts lines, with one that does not end', async () => {
      const test = await create();
      const { handle } = await begun(test);
      const lines = async (): Promise<number | undefined> =>
        (await test.workspace.sessions.list())[0]?.lines;
      expect(await lines()).toBe(0);
      handle.append('one\ntwo');
      await handle.save(record);
      expect(await lines()).toBe(2);
      handle.append('\n');
      await handle.save(record);
      expect(await lines()).toBe(2);
      expect(await test.workspace.sessions.find(handle.id)).toMatchObject({
        bytes: 8,
        saved_bytes: 8,
        state: record.state,
        intent: 'a test',
      });
      await handle.release();
    });

    it('puts what nobody wants away, from where a claim brings it back', async () => {
      const test = await create();
      const { handle } = await begun(test);
      handle.append('text\n');
      await handle.save(record);
      await handle.release();
      const { sessions } = await test.reopen();
      expect((await sessions.clean({ all: false })).moved).toEqual([]);
      expect((await sessions.clean({ all: true })).moved).toEqual([
        { session_id: handle.id, target_file: 'a.txt', bytes: 5, lines: 1 },
      ]);
      expect(await sessions.find(handle.id)).toMatchObject({ discarded: true, recoverable: false });
      const claimed = await sessions.claim(handle.id);
      expect(await sessions.find(handle.id)).toMatchObject({ status: 'live' });
      await claimed.handle.release();
      expect(await sessions.list('recoverable')).toMatchObject([{ session_id: handle.id }]);
      await sessions.discard(handle.id);
      expect(await sessions.list()).toEqual([]);
    });

    it('adopts a text that was rescued, as another session', async () => {
      const test = await create();
      const { handle } = await begun(test);
      handle.append('saved\n');
      await handle.save(record);
      handle.append('and not saved\n');
      const path = await handle.rescue();
      await handle.release();
      const { sessions } = await test.reopen();
      const id = await sessions.adopt(path);
      expect(id).not.toBe(handle.id);
      const claimed = await sessions.claim(id);
      expect(Buffer.from(await bytesOf(claimed.handle.readContent())).toString()).toBe(
        'saved\nand not saved\n',
      );
      expect(claimed.record).toMatchObject({ idle_prompts: 1 });
      await claimed.handle.remove();
      expect(await codeOf(sessions.adopt(path))).toBe('FILE_NOT_FOUND');
    });
  });
}

async function begun(
  test: WorkspaceUnderTest,
): Promise<{ handle: Awaited<ReturnType<Workspace['sessions']['begin']>> }> {
  return { handle: await test.workspace.sessions.begin(await metadataFor(test, 'a.txt')) };
}

async function metadataFor(test: WorkspaceUnderTest, target: string): Promise<SessionMetadata> {
  const id = test.createId();
  return {
    version: 1,
    session_id: id,
    intent: 'a test',
    target_file: target,
    operation: 'create',
    created_at: '2026-01-01T00:00:00.000Z',
    end_marker: `DONE ${id.slice(0, 4)}`,
    final_newline: true,
    target: await test.workspace.checkTarget(target, 'create'),
  };
}

async function* noText(): AsyncGenerator<string> {
  yield '';
}

/** The text that is left of a session. */
async function removed(handle: SessionHandle): Promise<string> {
  const { trailing } = await handle.remove();
  return trailing === undefined ? '' : readFile(trailing, 'utf8');
}

async function bytesOf(source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function joined(source: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of source) text += piece;
  return text;
}
