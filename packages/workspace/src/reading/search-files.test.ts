/** Hazards of a search that a model asks for: R284, B1, B2, B4, B21. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { SearchReport, SearchRequest } from '@orion/contracts';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { PathPolicy } from '../path-policy/path-policy.ts';
import { StateDirectory } from '../state-directory.ts';
import { codeOf, temporaryDirectory } from '../testing/temp-workspace.ts';
import { listFiles } from './list-files.ts';
import { searchFiles } from './search-files.ts';

// Threads start slowly on a machine that does much else.
vi.setConfig({ testTimeout: 60_000 });

let root: string;
let policy: PathPolicy;
beforeEach(async () => {
  root = await temporaryDirectory();
  policy = new PathPolicy({
    root,
    givenRoot: root,
    state: new StateDirectory(join(root, '.orion')),
    userDirectory: join(root, 'mine'),
    allowPaths: [],
    allowHardLink: false,
    maxTargetBytes: 1000,
    interactive: false,
    confirmProtectedPath: undefined,
  });
});

function put(files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), bytes);
  }
}

function search(
  pattern: string,
  more: Partial<SearchRequest> = {},
  limitMs?: number,
): Promise<SearchReport> {
  return searchFiles(policy, { pattern, syntax: 'regex', ...more }, limitMs);
}

/** Such as `a.txt:1:text`; context has `-`. */
function shown({ files }: SearchReport): readonly string[] {
  return files.flatMap(({ path, lines }) =>
    lines.map(({ line, text, isMatch }) =>
      isMatch ? `${path}:${line}:${text}` : `${path}-${line}-${text}`,
    ),
  );
}

describe('what is found', () => {
  it.each<[string, Partial<SearchRequest>, readonly string[]]>([
    ['b.b', {}, ['a.txt:2:bxb', 'sub/c.md:1:see b.b']],
    ['b.b', { syntax: 'literal' }, ['sub/c.md:1:see b.b']],
    ['B.B', { syntax: 'literal', ignoreCase: true }, ['sub/c.md:1:see b.b']],
    ['BXB', { ignoreCase: true }, ['a.txt:2:bxb']],
    ['^$', {}, ['a.txt:3:']],
    ['é', { syntax: 'literal' }, ['a.txt:4:é last']],
    ['a\\s+b', {}, []],
    ['one$', {}, ['a.txt:1:one', 'win.txt:1:one']],
    ['(?<!o)ne', {}, []],
    ['(?<=o)ne$', {}, ['a.txt:1:one', 'win.txt:1:one']],
    ['t[^x]*$', { below: 'win.txt' }, ['win.txt:2:two']],
    ['see', { below: 'sub' }, ['sub/c.md:1:see b.b']],
    ['see', { below: './sub/' }, ['sub/c.md:1:see b.b']],
    ['see', { below: '.' }, ['sub/c.md:1:see b.b']],
    ['see', { below: 'to-sub' }, ['sub/c.md:1:see b.b']],
    ['.', { globs: ['*.md'] }, ['sub/c.md:1:see b.b']],
    ['.', { below: 'sub/c.md', globs: ['*.txt'] }, []],
    ['\\-', {}, []],
  ])('%s %j', async (pattern, more, lines) => {
    put({
      'a.txt': 'one\nbxb\n\né last',
      'sub/c.md': 'see b.b\n',
      'win.txt': 'one\r\ntwo\r\n',
      'ignored.txt': 'one b.b see\n',
      '.gitignore': 'ignored.txt\n',
    });
    symlinkSync('sub', join(root, 'to-sub'));
    const report = await search(pattern, { globs: ['!.gitignore'], ...more });
    expect(shown(report)).toEqual(lines);
    expect(report).toMatchObject({ matches: lines.length, stopped: null });
  });

  it('in order of the paths, with context that is shown once', async () => {
    put({ 'b/a.txt': 'x\n', 'b.txt': '1\n2\nx\n4\nx\n6\n7\n8\n9\nx', 'a/z.txt': 'y\nx\ny\ny\n' });
    expect(shown(await search('x', { contextLines: 1 }))).toEqual([
      'a/z.txt-1-y',
      'a/z.txt:2:x',
      'a/z.txt-3-y',
      'b.txt-2-2',
      'b.txt:3:x',
      'b.txt-4-4',
      'b.txt:5:x',
      'b.txt-6-6',
      'b.txt-9-9',
      'b.txt:10:x',
      'b/a.txt:1:x',
    ]);
  });

  it('context does not pass an empty first line, and is bounded', async () => {
    put({ 'a.txt': `\nx\n${'y\n'.repeat(30)}` });
    expect(shown(await search('x', { contextLines: 2 }))).toEqual([
      'a.txt-1-',
      'a.txt:2:x',
      'a.txt-3-y',
      'a.txt-4-y',
    ]);
    expect(shown(await search('x', { contextLines: 99 }))).toHaveLength(12);
  });

  it('in every encoding, and says which it took', async () => {
    const utf16 = Buffer.from('\ufeffné\n', 'utf16le');
    put({
      'be.txt': Buffer.from(utf16).swap16(),
      'bom.txt': '\ufeffné\n',
      'latin1.txt': Buffer.from('né\n', 'latin1'),
      'le.txt': utf16,
      'utf8.txt': 'né\n',
    });
    for (const request of [{}, { syntax: 'literal' }] as const) {
      const { files } = await search('né', request);
      expect(files.map(({ path, encoding }) => `${path} ${encoding}`)).toEqual([
        'be.txt utf-16be',
        'bom.txt utf-8',
        'latin1.txt latin1',
        'le.txt utf-16le',
        'utf8.txt utf-8',
      ]);
    }
    expect((await search('^n', { globs: ['bom.txt'] })).matches).toBe(1);
    expect((await search('n', { syntax: 'literal' })).matches).toBe(5);
  });
});

describe('limits', () => {
  it('200 matches: at the limit the search is complete, at one more it says where it stopped', async () => {
    put({ 'a.txt': 'x\n'.repeat(199), 'b.txt': 'x\n', 'c.txt': 'y\n' });
    expect(await search('x')).toMatchObject({ matches: 200, stopped: null, searched: 3 });
    put({ 'b.txt': 'x\nx\n' });
    expect(await search('x')).toMatchObject({
      matches: 200,
      searched: 1,
      stopped: { reason: 'matches', at: 'b.txt' },
    });
  });

  it('names the file where it stopped, although many more have matches', async () => {
    for (let file = 100; file < 300; file += 1) put({ [`${file}.txt`]: 'x\n'.repeat(10) });
    expect(await search('x')).toMatchObject({
      matches: 200,
      searched: 20,
      stopped: { reason: 'matches', at: '120.txt' },
    });
  });

  it('10 MiB a file: a larger one is left out and counted', async () => {
    put({ 'fits.txt': 'x\n', 'large.txt': 'x\n', 'huge.txt': 'x\n' });
    truncateSync(join(root, 'large.txt'), 10 * 1024 ** 2 + 1);
    truncateSync(join(root, 'huge.txt'), 10 * 1024 ** 3);
    writeFileSync(join(root, 'fits.txt'), `${'y\n'.repeat(5 * 1024 ** 2 - 1)}x\n`);
    const report = await search('x');
    expect(shown(report)).toEqual([`fits.txt:${5 * 1024 ** 2}:x`]);
    expect(report.leftOut).toEqual({ binary: 0, tooLarge: 2, unreadable: 0, longLines: 0 });
  });

  it('64 KiB of a line are searched, and 400 characters of it shown, around the match', async () => {
    const long = `${'a'.repeat(65_535)}x`;
    put({
      'a.txt': `${long}\n`,
      'b.txt': `a${long}\nx\n`,
      'c.txt': `${'a'.repeat(400)}\nx${'b'.repeat(400)}`,
    });
    const report = await search('x');
    expect(shown(report)).toEqual([
      `a.txt:1:…${'a'.repeat(100)}x`,
      'b.txt:2:x',
      `c.txt:2:x${'b'.repeat(399)}…`,
    ]);
    expect(report.leftOut.longLines).toBe(1);
    put({ 'd.txt': `${long}\r\n` });
    expect(shown(await search('x', { below: 'd.txt' }))).toEqual([`d.txt:1:…${'a'.repeat(100)}x…`]);
    const { files } = await search('a{3}', { globs: ['c.txt'] });
    expect(files[0]?.lines[0]?.text).toBe('a'.repeat(400));
  });

  it('binary files are left out and counted, unreadable ones too', async () => {
    put({ 'a.bin': Buffer.from('x\0x'), 'b.txt': 'x' });
    expect((await search('x')).leftOut.binary).toBe(1);
    if (process.getuid?.() === 0) return;
    chmodSync(join(root, 'b.txt'), 0);
    expect((await search('x')).leftOut.unreadable).toBe(1);
  });

  it.each([
    ['', 'regex', /is empty/u],
    ['(', 'regex', /is not valid/u],
    ['a'.repeat(1001), 'literal', /more than 1000/u],
    ['a\nb', 'literal', /line break/u],
  ] as const)('refuses %j', async (pattern, syntax, message) => {
    put({ 'a.txt': 'a' });
    await expect(search(pattern, { syntax })).rejects.toMatchObject({
      code: 'INVALID_TOOL_ARGUMENTS',
      message: expect.stringMatching(message) as string,
    });
  });
});

describe('B21: an expression that never ends', () => {
  it('is stopped, while everything else continues, and what was found before is kept', async () => {
    put({ 'a.txt': 'aaa\n', 'b.txt': `${'a'.repeat(40)}!\n`, 'c.txt': 'aaa\n' });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    const report = await search('^(a+)+$', {}, 1500);
    clearInterval(timer);
    expect(shown(report)).toEqual(['a.txt:1:aaa']);
    expect(report.stopped).toEqual({ reason: 'time', at: 'b.txt' });
    // The thread of this test was free all the time.
    expect(turns).toBeGreaterThan(10);
  });

  it('ends with its turn', async () => {
    put({ 'b.txt': `${'a'.repeat(40)}!\n` });
    const stop = new AbortController();
    const searching = codeOf(search('^(a+)+$', { signal: stop.signal }));
    setTimeout(() => stop.abort(), 300);
    const started = performance.now();
    expect(await searching).toBe('ABORTED');
    expect(performance.now() - started).toBeLessThan(5000);
    expect(await codeOf(search('a', { signal: stop.signal }))).toBe('ABORTED');
  });

  it('does not exhaust the stack of a whole text, as its lines are short', async () => {
    put({ 'a.txt': `${'ab\n'.repeat(200_000)}end\n` });
    expect(shown(await search('(?:a|b|\\s)*end'))).toEqual(['a.txt:200001:end']);
  });

  it('does not see more of a long line than its beginning', async () => {
    put({ 'a.txt': `x${'c'.repeat(99)}`.repeat(50_000) });
    const report = await search('x.*b', {}, 8000);
    expect(report).toMatchObject({ matches: 0, stopped: null, leftOut: { longLines: 1 } });
  });

  it(
    'takes time in proportion to the text, whatever blanks it has',
    { tags: ['long'] },
    async () => {
      put({ 'a.txt': '\n'.repeat(4_000_000), 'b.txt': `${' '.repeat(60)}\n`.repeat(50_000) });
      for (const pattern of ['\\s*x', '\\s+x', '[^a]*x', '(?=\\s*x)y', '[\\s]*x']) {
        expect(await search(pattern, {}, 8000)).toMatchObject({ matches: 0, stopped: null });
      }
    },
  );
});

describe('B1, B2, B4: what is neither searched nor listed', () => {
  it.each([
    ['../x', 'INVALID_TARGET'],
    ['/etc', 'INVALID_TARGET'],
    ['/', 'INVALID_TARGET'],
    ['..', 'INVALID_TARGET'],
    ['~', 'INVALID_TARGET'],
    ['a\0b', 'INVALID_TARGET'],
    ['%2e%2e/x', 'INVALID_TARGET'],
    ['..\\x', 'INVALID_TARGET'],
    ['outside', 'INVALID_TARGET'],
    ['outside/secret.txt', 'INVALID_TARGET'],
    ['chain', 'INVALID_TARGET'],
    ['proc', 'INVALID_TARGET'],
    ['loop', 'INVALID_TARGET'],
    ['dangling', 'INVALID_TARGET'],
    ['none', 'FILE_NOT_FOUND'],
    ['pipe', 'NOT_A_FILE'],
    ['.orion', 'PROTECTED_PATH'],
    ['.orion/x', 'PROTECTED_PATH'],
    ['to-state', 'PROTECTED_PATH'],
    ['mine', 'PROTECTED_PATH'],
    ['mine/key', 'PROTECTED_PATH'],
  ])('%j: %s', async (below, code) => {
    const outside = await temporaryDirectory();
    writeFileSync(join(outside, 'secret.txt'), 'secret\n');
    put({ '.orion/x': 'secret\n', 'mine/key': 'secret\n', 'a.txt': 'a\n' });
    symlinkSync(outside, join(root, 'outside'));
    symlinkSync('outside', join(root, 'chain'));
    symlinkSync('/proc/self/root', join(root, 'proc'));
    symlinkSync('loop', join(root, 'loop'));
    symlinkSync(join(outside, 'none'), join(root, 'dangling'));
    symlinkSync('.orion', join(root, 'to-state'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(await codeOf(search('secret', { below }))).toBe(code);
    expect(await codeOf(listFiles(policy, 10, { below }))).toBe(code);
    expect((await listFiles(policy, 10)).files).toEqual(['a.txt']);
    expect(await search('secret')).toMatchObject({ matches: 0, searched: 1, stopped: null });
  });

  it('a file or folder that becomes a link, or a pipe, after it was listed', async () => {
    const outside = await temporaryDirectory();
    writeFileSync(join(outside, 'x.txt'), 'secret\n');
    put({ '.orion/x.txt': 'secret\n', 'aa/x.txt': 'ours\n' });
    put({ 'a/x.txt': 'ours\n', 'b.txt': 'ours\n', 'c.txt': 'ours\n', 'd.txt': 'ours secret\n' });
    // The policy is asked about each entry while the folder is walked: everything is listed, nothing opened.
    const walked = policy.isOwn.bind(policy);
    vi.spyOn(policy, 'isOwn').mockImplementation((path) => {
      if (path === join(root, 'd.txt')) {
        mkdirSync(join(root, '.git'));
        renameSync(join(root, 'a'), join(root, '.git/a'));
        symlinkSync(outside, join(root, 'a'));
        renameSync(join(root, 'aa'), join(root, '.git/aa'));
        symlinkSync('.orion', join(root, 'aa'));
        renameSync(join(root, 'b.txt'), join(root, '.git/b'));
        symlinkSync(join(outside, 'x.txt'), join(root, 'b.txt'));
        renameSync(join(root, 'c.txt'), join(root, '.git/c'));
        execFileSync('mkfifo', [join(root, 'c.txt')]);
      }
      return walked(path);
    });
    const report = await search('secret');
    expect(shown(report)).toEqual(['d.txt:1:ours secret']);
    expect(report.leftOut.unreadable).toBe(4);
  });
});
