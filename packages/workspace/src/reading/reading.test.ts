import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeOf, openTestWorkspace, temporaryDirectory } from '../testing/temp-workspace.ts';

function put(root: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), bytes);
  }
}

describe('readText', () => {
  const text = 'one\ntwo\r\nthré€\nlast';

  it.each([
    [{ maxLines: 10, maxBytes: 1000 }, text, 1, 4, false],
    [{ firstLine: 2, maxLines: 2, maxBytes: 1000 }, 'two\r\nthré€\n', 2, 3, true],
    [{ firstLine: 4, maxLines: 5, maxBytes: 1000 }, 'last', 4, 4, false],
    [{ firstLine: 9, maxLines: 5, maxBytes: 1000 }, '', 9, 8, false],
    [{ firstLine: 3, maxLines: 1, maxBytes: 6 }, 'thré', 3, 3, true],
    [{ maxLines: 4, maxBytes: 5 }, 'one\nt', 1, 2, true],
  ])('%j', async (range, content, firstLine, lastLine, truncated) => {
    const { root, workspace } = await openTestWorkspace();
    put(root, { 'a.txt': text });
    expect(await workspace.readText('a.txt', range)).toEqual({
      path: 'a.txt',
      encoding: 'utf-8',
      content,
      firstLine,
      lastLine,
      totalLines: 4,
      totalBytes: 22,
      truncated,
    });
  });

  it.each([
    // Whole lines, if the end has any.
    [{ maxLines: 1, maxBytes: 100, tailBytes: 12 }, 'last', 4],
    [{ maxLines: 1, maxBytes: 100, tailBytes: 13 }, 'last', 4],
    [{ maxLines: 1, maxBytes: 100, tailBytes: 14 }, 'thré€\nlast', 3],
    [{ maxLines: 1, maxBytes: 100, tailBytes: 4 }, 'last', 4],
    [{ maxLines: 1, maxBytes: 100, tailBytes: 3 }, 'ast', 4],
    [{ maxLines: 1, maxBytes: 100, tailBytes: 22 }, text, 1],
    [{ maxLines: 1, maxBytes: 100, tailBytes: 99 }, text, 1],
    [{ maxLines: 9, maxBytes: 21, tailBytes: 2 }, 'st', 4],
  ])('%j: the end is %j from line %j on', async (range, content, firstLine) => {
    const { root, workspace } = await openTestWorkspace();
    put(root, { 'a.txt': text });
    expect((await workspace.readText('a.txt', range)).tail).toEqual({ content, firstLine });
  });

  it('has no end where nothing is left out, and whole characters where a line is too long', async () => {
    const { root, workspace } = await openTestWorkspace();
    put(root, {
      'a.txt': text,
      'euro.txt': '€'.repeat(9),
      'latin.txt': Buffer.from('a\nb\n\xE9', 'latin1'),
    });
    const whole = { maxLines: 9, maxBytes: 22, tailBytes: 4 };
    expect(await workspace.readText('a.txt', whole)).not.toHaveProperty('tail');
    expect(
      await workspace.readText('euro.txt', { maxLines: 9, maxBytes: 4, tailBytes: 4 }),
    ).toMatchObject({
      encoding: 'utf-8',
      content: '€',
      tail: { content: '€', firstLine: 1 },
    });
    expect(
      await workspace.readText('latin.txt', { maxLines: 1, maxBytes: 9, tailBytes: 2 }),
    ).toMatchObject({
      encoding: 'latin1',
      tail: { content: 'é', firstLine: 3 },
    });
  });

  it('keeps the end of a file of many chunks', async () => {
    const { root, workspace } = await openTestWorkspace();
    const lines = Array.from({ length: 200_000 }, (_, index) => `line ${index + 1}`);
    put(root, { 'a.txt': `${lines.join('\n')}\n` });
    const read = await workspace.readText('a.txt', { maxLines: 2, maxBytes: 100, tailBytes: 25 });
    expect(read.tail).toEqual({ content: 'line 199999\nline 200000\n', firstLine: 199_999 });
  });

  it.each([
    ['a.png', '\x89PNG\r\n\x1A\n\0', 'PNG image'],
    ['a.webp', 'RIFF\0\0\0\0WEBP', 'WebP image'],
    ['a.bin', 'a\0b', null],
  ])('says of the binary file %s what it is', async (name, bytes, type) => {
    const { root, workspace } = await openTestWorkspace();
    put(root, { [name]: Buffer.from(bytes, 'latin1') });
    await expect(workspace.readText(name, { maxLines: 1, maxBytes: 1 })).rejects.toMatchObject({
      code: 'INVALID_CONTENT',
      details: { bytes: bytes.length, type },
    });
  });

  it.each([
    ['none.txt', 'FILE_NOT_FOUND'],
    ['dir', 'IS_DIRECTORY'],
    ['binary', 'INVALID_CONTENT'],
    ['half.txt', 'INVALID_CONTENT'],
    ['nul16.txt', 'INVALID_CONTENT'],
    ['.orion/x', 'PROTECTED_PATH'],
    ['../x', 'INVALID_TARGET'],
  ])('%s: %s', async (path, code) => {
    const { root, workspace } = await openTestWorkspace();
    put(root, {
      'dir/x': '',
      binary: Buffer.from([1, 0, 2]),
      'half.txt': Buffer.from([0xff, 0xfe, 0x61, 0x00, 0x00, 0xd8]),
      'nul16.txt': Buffer.from('\ufeffa\0b', 'utf16le'),
      '.orion/x': 'state',
    });
    expect(await codeOf(workspace.readText(path, { maxLines: 9, maxBytes: 99 }))).toBe(code);
  });

  it('refuses a file that is larger than it may be', async () => {
    const { root, workspace } = await openTestWorkspace();
    put(root, { 'a.txt': text });
    const range = { maxLines: 1, maxBytes: 1 };
    await workspace.readText('a.txt', { ...range, maxFileBytes: 22 });
    await expect(workspace.readText('a.txt', { ...range, maxFileBytes: 21 })).rejects.toMatchObject(
      {
        code: 'CONTENT_TOO_LARGE',
        message: '"a.txt" has 22 bytes, more than 21.',
      },
    );
  });

  it('keeps lines that lie in several pieces of a long file', async () => {
    const { root, workspace } = await openTestWorkspace();
    const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index + 1}\n`);
    put(root, { 'a.txt': lines.join('') });
    for (const [firstLine, maxLines] of [
      [1, 100_000],
      [2, 99_998],
      [30_000, 2],
      [99_999, 5],
    ] as const) {
      const range = { firstLine, maxLines, maxBytes: 10_000_000 };
      const { content, lastLine, totalLines } = await workspace.readText('a.txt', range);
      const wanted = lines.slice(firstLine - 1, firstLine - 1 + maxLines);
      expect(content === wanted.join('')).toBe(true);
      expect([lastLine, totalLines]).toEqual([firstLine - 1 + wanted.length, 100_000]);
    }
    const cut = await workspace.readText('a.txt', { maxLines: 100_000, maxBytes: 300_000 });
    expect(cut.content === lines.join('').slice(0, 300_000)).toBe(true);
    expect(cut.truncated).toBe(true);
  });

  const latin1 = Buffer.from('one\ncaf\xe9 \xc3\n', 'latin1');
  const utf16 = Buffer.from('\ufeffone\r\nthr\u00e9\u20ac \ud83d\ude00\nlast', 'utf16le');

  it.each<[string, Buffer, string, string, number, number]>([
    ['utf-16le', utf16, 'one\r\nthré€ 😀\n', 'thré€ 😀\n', 3, utf16.length],
    ['utf-16be', Buffer.from(utf16).swap16(), 'one\r\nthré€ 😀\n', 'thré€ 😀\n', 3, utf16.length],
    ['latin1', latin1, 'one\ncafé Ã\n', 'café Ã\n', 2, latin1.length],
  ])('%s is read and said', async (encoding, bytes, content, second, totalLines, totalBytes) => {
    const { root, workspace } = await openTestWorkspace();
    put(root, { 'a.txt': bytes });
    const range = { maxLines: 2, maxBytes: 100 };
    const facts = { encoding, totalLines, totalBytes };
    expect(await workspace.readText('a.txt', range)).toMatchObject({ ...facts, content });
    expect(
      await workspace.readText('a.txt', { ...range, firstLine: 2, maxLines: 1 }),
    ).toMatchObject({
      ...facts,
      content: second,
      lastLine: 2,
    });
  });

  it('a character of UTF-16 on the seam of two reads', async () => {
    const { root, workspace } = await openTestWorkspace();
    const text = `${'a'.repeat(128 * 1024 - 2)}😀b\n`;
    put(root, { 'a.txt': Buffer.from(`\ufeff${text}`, 'utf16le') });
    const range = { maxLines: 1, maxBytes: 1024 * 1024 };
    expect((await workspace.readText('a.txt', range)).content).toBe(text);
  });

  it('a page in ASCII of a text that is not UTF-8 elsewhere', async () => {
    const { root, workspace } = await openTestWorkspace();
    put(root, { 'a.txt': latin1 });
    const { encoding } = await workspace.readText('a.txt', { maxLines: 1, maxBytes: 100 });
    expect(encoding).toBe('utf-8');
  });

  it('an empty file has no lines', async () => {
    const { root, workspace } = await openTestWorkspace();
    put(root, { 'a.txt': '' });
    expect(await workspace.readText('a.txt', { maxLines: 9, maxBytes: 99 })).toMatchObject({
      content: '',
      totalLines: 0,
      truncated: false,
    });
  });
});

describe('listFiles', () => {
  it('is sorted and leaves out what is ignored, as git does', async () => {
    const { root, workspace } = await openTestWorkspace();
    put(root, {
      '.gitignore': '*.log\n/build/\n!keep.log\nnested/hidden\n',
      'a.txt': '',
      'a.log': '',
      'keep.log': '',
      'build/x': '',
      'src/build/x': '',
      'src/.gitignore': '!a.log\ntmp\n',
      'src/a.log': '',
      'src/b.log': '',
      'src/tmp/x': '',
      'nested/hidden': '',
      'nested/shown': '',
      'src-old/x': '',
      'src.txt': '',
      '.git/config': '',
      'node_modules/x/index.js': '',
      'web/node_modules/y': '',
      '.orion/x': '',
      '.env': '',
    });
    const outside = await temporaryDirectory();
    put(outside, { 'secret.txt': '' });
    symlinkSync(outside, join(root, 'link'));
    expect(await workspace.listFiles(100)).toEqual({
      files: [
        '.env',
        '.gitignore',
        'a.txt',
        'keep.log',
        'nested/shown',
        'src-old/x',
        'src.txt',
        'src/.gitignore',
        'src/a.log',
        'src/build/x',
      ],
      truncated: false,
      refused: [],
    });
    expect(await workspace.listFiles(2)).toEqual({
      files: ['.env', '.gitignore'],
      truncated: true,
      refused: [],
    });
    expect((await workspace.listFiles(10)).truncated).toBe(false);
  });
});

describe('readInstructions', () => {
  it('prefers AGENTS.md, cuts on a code point, and stays inside', async () => {
    const { root, workspace } = await openTestWorkspace();
    const read = async (maxBytes: number) =>
      (await workspace.readInstructions(maxBytes)).instructions;
    expect(await workspace.readInstructions(100)).toEqual({ instructions: null, refused: [] });
    put(root, { 'ORION.md': 'orion' });
    expect(await read(100)).toEqual({ name: 'ORION.md', content: 'orion', truncated: false });
    put(root, { 'AGENTS.md': 'a€b' });
    expect(await read(5)).toEqual({ name: 'AGENTS.md', content: 'a€b', truncated: false });
    expect(await read(3)).toEqual({ name: 'AGENTS.md', content: 'a', truncated: true });
  });

  it('does not follow a link out of the workspace, and says so', async () => {
    const { root, workspace } = await openTestWorkspace();
    const outside = await temporaryDirectory();
    put(outside, { 'x.md': 'stranger' });
    symlinkSync(join(outside, 'x.md'), join(root, 'AGENTS.md'));
    put(root, { 'ORION.md': 'orion' });
    expect(await workspace.readInstructions(100)).toEqual({
      instructions: { name: 'ORION.md', content: 'orion', truncated: false },
      refused: [{ path: 'AGENTS.md', reason: 'it is a link that leads out of the workspace' }],
    });
  });

  it('follows a link to a file of the workspace', async () => {
    const { root, workspace } = await openTestWorkspace();
    put(root, { 'docs/agents.md': 'ours' });
    symlinkSync('docs/agents.md', join(root, 'AGENTS.md'));
    expect((await workspace.readInstructions(100)).instructions?.content).toBe('ours');
  });
});
