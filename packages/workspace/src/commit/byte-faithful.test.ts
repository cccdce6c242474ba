/** Bytes outside an edit never change, and new bytes fit in (R248). */
import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { CommitPart, WriteOperation } from '@orion/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commitRequest, openTestWorkspace, sha256, sourceOf } from '../testing/temp-workspace.ts';

const BOM = '\ufeff';

async function written(
  old: string | Uint8Array,
  operation: WriteOperation,
  pieces: readonly string[],
  eol: 'match' | 'as-is' = 'match',
): Promise<string> {
  const { root, workspace } = await openTestWorkspace();
  await writeFile(join(root, 'a.txt'), old);
  const expected = await workspace.checkTarget('a.txt', operation);
  const result = await workspace.commit({ ...commitRequest(operation, expected, ...pieces), eol });
  const bytes = await readFile(join(root, 'a.txt'));
  expect(result.sha256).toBe(sha256(bytes));
  return bytes.toString();
}

describe('line endings', () => {
  it.each<[string, string, WriteOperation, string[], string]>([
    ['append to CRLF', 'a\r\nb\r\n', 'append', ['c\nd\n'], 'a\r\nb\r\nc\r\nd\r\n'],
    ['append mixed text to CRLF', 'a\r\n', 'append', ['b\r\nc\n'], 'a\r\nb\r\nc\r\n'],
    ['append to LF', 'a\n', 'append', ['b\r\nc\n'], 'a\nb\r\nc\n'],
    ['append to mixed', 'a\r\nb\n', 'append', ['c\n'], 'a\r\nb\nc\n'],
    ['append to one line', 'a', 'append', ['b\n'], 'ab\n'],
    ['append after a lone CR', 'a\r\nb\r', 'append', ['\nc\n'], 'a\r\nb\r\nc\r\n'],
    ['overwrite CRLF with LF', 'a\r\n', 'overwrite', ['b\n', 'c\n'], 'b\r\nc\r\n'],
    ['overwrite CRLF with CRLF', 'a\r\n', 'overwrite', ['b\r\nc\r\n'], 'b\r\nc\r\n'],
    ['overwrite CRLF with mixed', 'a\r\n', 'overwrite', ['b\n', 'c\r', '\nd\n'], 'b\nc\r\nd\n'],
    ['overwrite LF with CRLF', 'a\n', 'overwrite', ['b\r\n'], 'b\r\n'],
    ['a CR at the end of a piece', 'a\r\n', 'append', ['b\r', '\nc'], 'a\r\nb\r\nc'],
    [
      'no line feed, no change',
      'a\r\n',
      'append',
      ['b\u2028c\u0085d\re'],
      'a\r\nb\u2028c\u0085d\re',
    ],
  ])('%s', async (_name, old, operation, pieces, expected) => {
    expect(await written(old, operation, pieces)).toBe(expected);
  });

  it('as-is leaves them alone', async () => {
    expect(await written('a\r\n', 'append', ['b\n'], 'as-is')).toBe('a\r\nb\n');
    expect(await written('a\r\n', 'overwrite', ['b\n'], 'as-is')).toBe('b\n');
  });

  it('any split of the new bytes gives the same file', async () => {
    const { root, workspace } = await openTestWorkspace();
    const text = fc.array(fc.constantFrom('\r', '\n', '\r\n', 'x', 'é', '\ud83d\ude00'), {
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.array(fc.nat(60), { maxLength: 6 }),
        fc.constantFrom<WriteOperation>('append', 'overwrite'),
        async (characters, cuts, operation) => {
          const bytes = Buffer.from(characters.join(''));
          const pieces: Buffer[] = [];
          let from = 0;
          for (const cut of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
            pieces.push(bytes.subarray(from, Math.max(from, cut)));
            from = Math.max(from, cut);
          }
          const files: string[] = [];
          for (const split of [[bytes], pieces]) {
            await writeFile(join(root, 'a.txt'), 'a\r\nb\r\n');
            const expected = await workspace.checkTarget('a.txt', operation);
            const added: CommitPart = { kind: 'new', source: sourceOf(...split) };
            const kept: CommitPart = { kind: 'kept', start: 0, end: expected.bytes };
            await workspace.commit({
              ...commitRequest(operation, expected),
              parts: operation === 'append' ? [kept, added] : [added],
            });
            files.push(await readFile(join(root, 'a.txt'), 'utf8'));
          }
          expect(files[1]).toBe(files[0]);
          const whole = bytes.toString();
          const converts = operation === 'append' || !whole.includes('\r\n');
          const adapted = converts ? whole.replace(/(?<!\r)\n/gu, '\r\n') : whole;
          expect(files[0]).toBe(operation === 'append' ? `a\r\nb\r\n${adapted}` : adapted);
        },
      ),
      { numRuns: 15 },
    );
  }, 20_000);
});

describe('the byte order mark', () => {
  it.each<[string, string, WriteOperation, string[], string]>([
    ['stays when the file is overwritten', `${BOM}a\n`, 'overwrite', ['b\n'], `${BOM}b\n`],
    ['is not doubled', `${BOM}a\n`, 'overwrite', [`${BOM}b\n`], `${BOM}b\n`],
    ['stays with CRLF', `${BOM}a\r\n`, 'overwrite', ['b\n'], `${BOM}b\r\n`],
    ['stays before an append', `${BOM}a\n`, 'append', ['b\n'], `${BOM}a\nb\n`],
    ['is not made up', 'a\n', 'overwrite', ['b\n'], 'b\n'],
    ['may come with new content', 'a\n', 'overwrite', [`${BOM}b\n`], `${BOM}b\n`],
  ])('%s', async (_name, old, operation, pieces, expected) => {
    expect(await written(old, operation, pieces)).toBe(expected);
  });

  it('is recognised in single bytes', async () => {
    const { root, workspace } = await openTestWorkspace();
    for (const [bytes, expected] of [
      [[0xef, 0xbb, 0xbf, 0x62], `${BOM}b`],
      [[0xef, 0xbb], `${BOM}\ufffd`],
      [[0x62], `${BOM}b`],
    ] as const) {
      await writeFile(join(root, 'a.txt'), `${BOM}a`);
      const snapshot = await workspace.checkTarget('a.txt', 'overwrite');
      const source = sourceOf(...bytes.map((byte) => Uint8Array.of(byte)));
      const result = await workspace.commit({
        ...commitRequest('overwrite', snapshot),
        parts: [{ kind: 'new', source }],
      });
      expect(result.bom).toBe(true);
      expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe(expected);
    }
  });
});

describe('pieces of the old file', () => {
  it('are taken byte by byte, even where they are no text', async () => {
    const { root, workspace } = await openTestWorkspace();
    const old = Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0xc3, 0x28, 0x0d, 0x0a]);
    await writeFile(join(root, 'a.bin'), old);
    const expected = await workspace.checkTarget('a.bin', 'overwrite');
    const result = await workspace.commit({
      ...commitRequest('overwrite', expected),
      parts: [
        { kind: 'kept', start: 4, end: 8 },
        { kind: 'new', source: sourceOf('x\n') },
        { kind: 'kept', start: 0, end: 4 },
        { kind: 'new', source: sourceOf('\ny') },
      ],
    });
    const bytes = await readFile(join(root, 'a.bin'));
    expect(bytes).toEqual(
      Buffer.concat([
        old.subarray(4),
        Buffer.from('x\r\n'),
        old.subarray(0, 4),
        Buffer.from('\r\ny'),
      ]),
    );
    expect(result).toMatchObject({ bytes: 6, lines: 3, eol: 'crlf', sha256: sha256(bytes) });
  });

  it('that are not there are a defect, and change nothing', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'old');
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    const parts = [{ kind: 'kept', start: 0, end: 4 }] as const;
    const request = { ...commitRequest('overwrite', expected), parts };
    await expect(workspace.commit(request)).rejects.toThrow(RangeError);
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('old');
  });
});

describe('what is not bytes', () => {
  const python = spawnSync('python3', ['-c', 'import os; os.getxattr']).status === 0;
  if (!python) console.warn('SKIPPED: no python3, so no extended attribute can be set');

  it.skipIf(process.platform !== 'linux' || !python)('extended attributes stay', async () => {
    const { root, workspace } = await openTestWorkspace();
    const path = join(root, 'a.txt');
    await writeFile(path, 'old');
    const set = spawnSync('python3', [
      '-c',
      'import os, sys; os.setxattr(sys.argv[1], "user.orion", b"kept")',
      path,
    ]);
    if (set.status !== 0) {
      console.warn('SKIPPED: this file system keeps no extended attributes');
      return;
    }
    const before = Date.now() - 1000;
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    const result = await workspace.commit(commitRequest('overwrite', expected, 'new'));
    expect(result.not_kept).toEqual([]);
    const got = spawnSync('python3', [
      '-c',
      'import os, sys; print(os.getxattr(sys.argv[1], "user.orion").decode())',
      path,
    ]);
    expect(got.stdout.toString()).toBe('kept\n');
    expect(await readFile(path, 'utf8')).toBe('new');
    // A file that changed is a newer one.
    expect((await stat(path)).mtimeMs).toBeGreaterThan(before);
  });

  it('the mode stays, set-id and sticky bits too', async () => {
    const { root, workspace } = await openTestWorkspace();
    await mkdir(join(root, 'd'));
    await chmod(join(root, 'd'), 0o2775);
    for (const mode of [0o600, 0o755, 0o4750, 0o1644, 0o640]) {
      const path = join(root, 'd', `f${mode}`);
      await writeFile(path, 'old');
      await chmod(path, mode);
      const expected = await workspace.checkTarget(`d/f${mode}`, 'append');
      await workspace.commit(commitRequest('append', expected, 'new'));
      expect((await stat(path)).mode & 0o7777).toBe(mode);
    }
  });

  it.skipIf(process.getuid?.() !== 0)('the owner stays', async () => {
    const { root, workspace } = await openTestWorkspace();
    const path = join(root, 'a.txt');
    await writeFile(path, 'old');
    await chown(path, 12_345, 54_321);
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    const result = await workspace.commit(commitRequest('overwrite', expected, 'new'));
    expect(result.not_kept).toEqual([]);
    const { uid, gid } = await stat(path);
    expect([uid, gid]).toEqual([12_345, 54_321]);
  });
});

describe('a prepared commit', () => {
  it('changes nothing before it is applied, and leaves nothing when it is discarded', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'old');
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    const request = commitRequest('overwrite', expected, 'new');
    const discarded = await workspace.prepareCommit(request);
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('old');
    expect(await readFile(join(root, discarded.writing.temp), 'utf8')).toBe('new');
    await discarded.discard();
    await expect(readFile(join(root, discarded.writing.temp))).rejects.toThrow('ENOENT');
    await expect(readFile(discarded.result.backup_path ?? '')).rejects.toThrow('ENOENT');
    await expect(discarded.apply()).rejects.toThrow('applied or discarded before');

    const prepared = await workspace.prepareCommit(request);
    const result = await prepared.apply();
    expect(result).toEqual(prepared.result);
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('new');
    expect(await readFile(result.backup_path ?? '', 'utf8')).toBe('old');
  });

  it('reads a target as it was, or says that it changed', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'old');
    const snapshot = await workspace.checkTarget('a.txt', 'overwrite');
    const chunks: Uint8Array[] = [];
    for await (const chunk of workspace.readTarget(snapshot)) chunks.push(Uint8Array.from(chunk));
    expect(Buffer.concat(chunks).toString()).toBe('old');
    await writeFile(join(root, 'a.txt'), 'OLD');
    const reading = (async () => {
      for await (const chunk of workspace.readTarget(snapshot)) void chunk;
    })();
    await expect(reading).rejects.toMatchObject({ code: 'TARGET_CHANGED' });
  });
});
