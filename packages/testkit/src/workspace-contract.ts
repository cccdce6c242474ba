/** What every implementation of `Workspace` and its `SessionStore` promises. */
import { OrionError } from '@orion/contracts';
import type {
  ByteSource,
  CommitPart,
  CommitResult,
  ErrorCode,
  PlanCommitRequest,
  SessionMetadata,
  SessionRecord,
  TargetSnapshot,
  Workspace,
  WriteOperation,
  WritingRecord,
} from '@orion/contracts';
import { describe, expect, it } from 'vitest';

/** A workspace of its own for one test, with files as named, and a way to look at them. */
export interface WorkspaceUnderTest {
  readonly workspace: Workspace;
  /** The text of a file, null when there is none. */
  read(path: string): Promise<string | null>;
  /** Writes a file past the workspace, as another program would. */
  write(path: string, text: string): Promise<void>;
  /** A new lower-case UUID v4. */
  createId(): string;
  /** The same workspace opened again, as after a restart. */
  reopen(): Promise<Workspace>;
}

export type WorkspaceFactory = () => Promise<WorkspaceUnderTest>;

const record: SessionRecord = {
  version: 1,
  state: 'session_active.awaiting_done_or_more_content',
  fence_stripped: false,
  fence_asked: false,
  inner_done_lines: [],
  seams: [],
  idle_prompts: 1,
};

export function describeWorkspaceContract(name: string, create: WorkspaceFactory): void {
  describe(`${name}: Workspace`, () => {
    it('creates, overwrites and appends, and reports the bytes on disk', async () => {
      const test = await create();
      const made = await commit(test.workspace, 'a/b.txt', 'create', 'one\n');
      expect(made).toMatchObject({ path: 'a/b.txt', bytes: 4, lines: 1, eol: 'lf', bom: false });
      expect(made.backup_path).toBeUndefined();
      const added = await commit(test.workspace, 'a/b.txt', 'append', 'two');
      expect(added).toMatchObject({ bytes: 3, lines: 1 });
      expect(await test.read('a/b.txt')).toBe('one\ntwo');
      const replaced = await commit(test.workspace, 'a/b.txt', 'overwrite', 'three\r\n');
      expect(replaced).toMatchObject({ bytes: 7, lines: 1, eol: 'crlf' });
      expect(replaced.backup_id).toBeTypeOf('string');
      expect(await test.read('a/b.txt')).toBe('three\r\n');
      const now = await test.workspace.checkTarget('a/b.txt', 'overwrite');
      expect(now.sha256).toBe(replaced.sha256);
    });

    it('calls the journal before the target changes, and changes nothing when it rejects', async () => {
      const test = await create();
      const expected = await test.workspace.checkTarget('a.txt', 'create');
      let seen: WritingRecord | null = null;
      const attempt = test.workspace.commit({
        target: 'a.txt',
        operation: 'create',
        expected,
        parts: partsOf('create', expected, 'text'),
        eol: 'match',
        journal: async (writing) => {
          seen = writing;
          expect(await test.read('a.txt')).toBeNull();
          throw new Error('not recorded');
        },
      });
      await expect(attempt).rejects.toThrow('not recorded');
      expect(seen).toMatchObject({ before: null });
      expect(await test.read('a.txt')).toBeNull();
    });

    it('does not touch a target that is not as it was', async () => {
      const test = await create();
      await test.write('a.txt', 'old');
      const expected = await test.workspace.checkTarget('a.txt', 'overwrite');
      await test.write('a.txt', 'OLD');
      const attempt = test.workspace.commit({
        target: 'a.txt',
        operation: 'overwrite',
        expected,
        parts: partsOf('overwrite', expected, 'new'),
        eol: 'match',
        journal: async () => undefined,
      });
      expect(await codeOf(attempt)).toBe('TARGET_CHANGED');
      expect(await test.read('a.txt')).toBe('OLD');
    });

    it('changes the files of a plan together, or none of them', async () => {
      const test = await create();
      await test.write('a.txt', 'old a');
      await test.write('b.txt', 'old b');
      const change = async (target: string): Promise<PlanCommitRequest['changes'][number]> => {
        const expected = await test.workspace.checkTarget(target, 'overwrite');
        return {
          target,
          operation: 'overwrite',
          parts: partsOf('overwrite', expected, 'new'),
          eol: 'as-is',
          expected,
        };
      };
      const plan = { siblingBackups: false, atomic: true };
      const changes = [await change('a.txt'), await change('b.txt')];
      const refused = await test.workspace.commitPlan({
        ...plan,
        planId: '8f14e45f-ceea-4670-9e4a-0123456789ab',
        changes,
        approve: () => test.write('b.txt', 'mine'),
      });
      expect(refused.map(({ kind }) => kind)).toEqual(['restored', 'failed']);
      expect([await test.read('a.txt'), await test.read('b.txt')]).toEqual(['old a', 'mine']);
      const done = await test.workspace.commitPlan({
        ...plan,
        planId: '8f14e45f-ceea-4670-9e4a-0123456789ac',
        changes: [await change('a.txt'), await change('b.txt')],
      });
      expect(done.map(({ kind }) => kind)).toEqual(['done', 'done']);
      expect([await test.read('a.txt'), await test.read('b.txt')]).toEqual(['new', 'new']);
    });

    it.each<[string, WriteOperation, ErrorCode]>([
      ['../x', 'create', 'INVALID_TARGET'],
      ['/x', 'create', 'INVALID_TARGET'],
      ['', 'create', 'INVALID_TARGET'],
      ['there.txt', 'create', 'FILE_EXISTS'],
      ['none.txt', 'append', 'FILE_NOT_FOUND'],
      ['none.txt', 'insert', 'FILE_NOT_FOUND'],
      ['none.txt', 'replace', 'FILE_NOT_FOUND'],
      ['dir', 'overwrite', 'IS_DIRECTORY'],
      ['.git/config', 'create', 'PROTECTED_PATH'],
      ['.orion/x', 'create', 'PROTECTED_PATH'],
    ])('refuses %j for %s', async (target, operation, code) => {
      const test = await create();
      await test.write('there.txt', 'text');
      await test.write('dir/x', 'text');
      expect(await codeOf(test.workspace.checkTarget(target, operation))).toBe(code);
    });

    it('reads and lists files', async () => {
      const test = await create();
      await test.write('b.txt', 'one\ntwo\nthree\n');
      await test.write('a/x.txt', '');
      const range = { firstLine: 2, maxLines: 1, maxBytes: 100 };
      expect(await test.workspace.readText('b.txt', range)).toEqual({
        path: 'b.txt',
        encoding: 'utf-8',
        content: 'two\n',
        firstLine: 2,
        lastLine: 2,
        totalLines: 3,
        totalBytes: 14,
        truncated: true,
      });
      expect(await codeOf(test.workspace.readText('none', range))).toBe('FILE_NOT_FOUND');
      expect(await codeOf(test.workspace.readText('b.txt', { ...range, maxFileBytes: 1 }))).toBe(
        'CONTENT_TOO_LARGE',
      );
      expect(await test.workspace.listFiles(10)).toEqual({
        files: ['a/x.txt', 'b.txt'],
        truncated: false,
        refused: [],
      });
      expect(await test.workspace.listFiles(1)).toEqual({
        files: ['a/x.txt'],
        truncated: true,
        refused: [],
      });
      expect((await test.workspace.listFiles(9, { below: 'a', globs: ['*.txt'] })).files).toEqual([
        'a/x.txt',
      ]);
      expect((await test.workspace.listFiles(9, { recursive: false })).files).toEqual(['b.txt']);
      expect(await codeOf(test.workspace.listFiles(9, { below: '../a' }))).toBe('INVALID_TARGET');
    });

    it('searches files', async () => {
      const test = await create();
      await test.write('b.txt', 'one\nt.o\nthree\n');
      await test.write('a/x.txt', 'two\n');
      const literal = await test.workspace.searchFiles({ pattern: 't.o', syntax: 'literal' });
      expect(literal).toEqual({
        files: [
          { path: 'b.txt', encoding: 'utf-8', lines: [{ line: 2, text: 't.o', isMatch: true }] },
        ],
        matches: 1,
        searched: 2,
        leftOut: { binary: 0, tooLarge: 0, unreadable: 0, longLines: 0 },
        stopped: null,
        refused: [],
      });
      const regex = await test.workspace.searchFiles({
        pattern: 'T.O',
        syntax: 'regex',
        ignoreCase: true,
      });
      expect(regex.files.map(({ path }) => path)).toEqual(['a/x.txt', 'b.txt']);
      const invalid = test.workspace.searchFiles({ pattern: '(', syntax: 'regex' });
      expect(await codeOf(invalid)).toBe('INVALID_TOOL_ARGUMENTS');
    });
  });

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
      expect((await claimed.handle.remove()).trailing).toBeDefined();
    });

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
      const before = { temp: 'none.tmp', before: null, after: '0'.repeat(64), result };
      await handle.recordWriting(before);
      expect(await handle.resolveWriting(before)).toBe('before');
      const made = await commit(test.workspace, 'a.txt', 'create', 'text');
      const after = { ...before, after: made.sha256 };
      expect(await handle.resolveWriting(after)).toBe('after');
      await test.write('a.txt', 'of another');
      const other = { ...result, backup_id: made.backup_id ?? '' };
      expect(await handle.resolveWriting({ ...after, result: other })).toBe('changed_after');
    });

    it('does not know ids that are none', async () => {
      const test = await create();
      for (const id of ['', '../x', test.createId().toUpperCase(), test.createId()]) {
        expect(await codeOf(test.workspace.sessions.claim(id))).toBe('SESSION_NOT_FOUND');
      }
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

async function commit(
  workspace: Workspace,
  target: string,
  operation: WriteOperation,
  text: string,
): ReturnType<Workspace['commit']> {
  const expected = await workspace.checkTarget(target, operation);
  const journal = async (): Promise<void> => undefined;
  const parts = partsOf(operation, expected, text);
  return workspace.commit({ target, operation, expected, parts, eol: 'as-is', journal });
}

function partsOf(
  operation: WriteOperation,
  expected: TargetSnapshot,
  text: string,
): readonly CommitPart[] {
  const added: CommitPart = { kind: 'new', source: textSource(text) };
  return operation === 'append'
    ? [{ kind: 'kept', start: 0, end: expected.bytes }, added]
    : [added];
}

function textSource(text: string): ByteSource {
  return async function* once() {
    yield new TextEncoder().encode(text);
  };
}

async function* noText(): AsyncGenerator<string> {
  yield '';
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return OrionError.isInstance(error) ? error.code : String(error);
  }
  return 'no error';
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
