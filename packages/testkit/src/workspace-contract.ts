/** What every implementation of `Workspace` promises; `session-store-contract.ts` has its sessions. */
import type {
  ErrorCode,
  PlanCommitRequest,
  Workspace,
  WriteOperation,
  WritingRecord,
} from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { codeOf, commitText as commit, partsOf } from './commit-text.ts';

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
}
