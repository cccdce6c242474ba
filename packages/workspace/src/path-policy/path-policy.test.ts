import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  codeOf,
  commitRequest,
  openTestWorkspace,
  temporaryDirectory,
} from '../testing/temp-workspace.ts';
import { isInside } from './resolve-path.ts';

async function treeWithLinks(): Promise<{ root: string; outside: string }> {
  const base = await temporaryDirectory();
  const root = join(base, 'ws');
  const outside = join(base, 'ws-evil');
  mkdirSync(join(root, 'dir/deeper'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(root, 'file.txt'), 'inside');
  writeFileSync(join(outside, 'secret.txt'), 'outside');
  const links: Readonly<Record<string, string>> = {
    'to-file': 'file.txt',
    'to-dir': 'dir',
    chain: 'to-dir',
    'to-outside': outside,
    'to-secret': join(outside, 'secret.txt'),
    'dangling-outside': join(outside, 'new.txt'),
    'dangling-inside': 'dir/new.txt',
    'dangling-dir': 'dir/none',
    'loop-a': 'loop-b',
    'loop-b': 'loop-a',
    self: 'self',
    'up-and-in': '../ws/file.txt',
    up: '..',
    'absolute-in': join(root, 'dir'),
    proc: '/proc/self/root',
    'to-git': '.git',
    'dir/out': '../../ws-evil',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
  return { root, outside };
}

describe('targets that are refused', () => {
  it.each([
    ['../x', 'INVALID_TARGET'],
    ['a/../../x', 'INVALID_TARGET'],
    ['dir/../file.txt', 'INVALID_TARGET'],
    ['..', 'INVALID_TARGET'],
    ['.', 'INVALID_TARGET'],
    ['', 'INVALID_TARGET'],
    ['   ', 'INVALID_TARGET'],
    ['dir/', 'INVALID_TARGET'],
    ['..\\x', 'INVALID_TARGET'],
    ['dir\\x', 'INVALID_TARGET'],
    ['%2e%2e/x', 'INVALID_TARGET'],
    ['a%2Fb', 'INVALID_TARGET'],
    ['a\0b', 'INVALID_TARGET'],
    ['a\nb', 'INVALID_TARGET'],
    ['a\u009bb', 'INVALID_TARGET'],
    ['a\ud800b', 'INVALID_TARGET'],
    ['~/x', 'INVALID_TARGET'],
    ['x.', 'INVALID_TARGET'],
    ['x ', 'INVALID_TARGET'],
    ['x'.repeat(256), 'INVALID_TARGET'],
    ['é'.repeat(128), 'INVALID_TARGET'],
    ['/etc/passwd', 'INVALID_TARGET'],
    ['to-outside/x', 'INVALID_TARGET'],
    ['to-secret', 'INVALID_TARGET'],
    ['dangling-outside', 'INVALID_TARGET'],
    ['dir/out/x/y/z', 'INVALID_TARGET'],
    ['up/x', 'INVALID_TARGET'],
    ['proc/etc/passwd', 'INVALID_TARGET'],
    ['loop-a', 'INVALID_TARGET'],
    ['loop-a/x', 'INVALID_TARGET'],
    ['self', 'INVALID_TARGET'],
    ['dir', 'IS_DIRECTORY'],
    ['to-dir', 'IS_DIRECTORY'],
    ['up-and-in/x', 'DIR_CREATE_FAILED'],
    ['to-git/config', 'PROTECTED_PATH'],
    ['.orion/logs/x', 'PROTECTED_PATH'],
    ['.env', 'PROTECTED_PATH'],
  ])('%j: %s', async (target, code) => {
    const { root, outside } = await treeWithLinks();
    const { workspace } = await openTestWorkspace({ root });
    expect(await codeOf(workspace.checkTarget(target, 'overwrite'))).toBe(code);
    expect(existsSync(join(outside, 'new.txt'))).toBe(false);
  });

  it('also when they are only read', async () => {
    const { root } = await treeWithLinks();
    const { workspace } = await openTestWorkspace({ root });
    const range = { maxLines: 1, maxBytes: 10 };
    for (const target of ['to-secret', 'proc/etc/passwd', '../ws-evil/secret.txt', '/etc/passwd']) {
      expect(await codeOf(workspace.readText(target, range))).toBe('INVALID_TARGET');
    }
  });

  it('devices, pipes and sockets', async () => {
    const { root } = await treeWithLinks();
    const { workspace } = await openTestWorkspace({ root });
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const server = createServer().listen(join(root, 'socket'));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    for (const target of ['pipe', 'socket']) {
      expect(await codeOf(workspace.checkTarget(target, 'overwrite'))).toBe('NOT_A_FILE');
      expect(await codeOf(workspace.readText(target, { maxLines: 1, maxBytes: 1 }))).toBe(
        'NOT_A_FILE',
      );
    }
  });

  it('the state directory, wherever it is', async () => {
    const { root, again } = await openTestWorkspace();
    const workspace = await again({ stateDirectory: join(root, 'kept/here') });
    expect(await codeOf(workspace.checkTarget('kept/here/x', 'create'))).toBe('PROTECTED_PATH');
    expect(await codeOf(workspace.checkTarget('.orion/x', 'create'))).toBe('PROTECTED_PATH');
    expect(await codeOf(workspace.checkTarget('kept/x', 'create'))).toBe('no error');
  });
});

describe('targets that are found', () => {
  it.each([
    ['to-file', 'file.txt', true],
    ['up-and-in', 'file.txt', true],
    ['chain/new.txt', 'dir/new.txt', false],
    ['absolute-in/a/b', 'dir/a/b', false],
    ['dangling-inside', 'dir/new.txt', false],
    ['dangling-dir/x', 'dir/none/x', false],
    ['./dir//./x', 'dir/x', false],
    ['...x', '...x', false],
  ])('%s is %s', async (target, real, exists) => {
    const { root } = await treeWithLinks();
    const { workspace } = await openTestWorkspace({ root });
    const found = await workspace.checkTarget(target, 'overwrite');
    expect(found).toMatchObject({ realPath: join(root, real), exists });
    await workspace.commit(commitRequest('overwrite', found, 'written'));
    expect(realpathSync(join(root, target))).toBe(join(root, real));
  });

  it('by absolute paths that lead inside, also through a link to the root', async () => {
    const { root, outside } = await treeWithLinks();
    symlinkSync(root, join(outside, 'door'));
    const { workspace, again } = await openTestWorkspace({ root });
    const found = await workspace.checkTarget(join(root, 'file.txt'), 'overwrite');
    expect(found.path).toBe('file.txt');
    const through = await workspace.checkTarget(join(outside, 'door/dir/n.txt'), 'create');
    expect(through.path).toBe('dir/n.txt');
    const other = await again();
    expect(other.root).toBe(root);
    expect(await codeOf(workspace.checkTarget(join(dirname(root), 'ws-evil/x'), 'create'))).toBe(
      'INVALID_TARGET',
    );
  });

  it('with an allow glob, but never in the state directory', async () => {
    const { again } = await openTestWorkspace();
    const workspace = await again({
      settings: { allowPaths: ['.github/**', '.env', '.orion/**'] },
    });
    expect(await codeOf(workspace.checkTarget('.github/workflows/x.yml', 'create'))).toBe(
      'no error',
    );
    expect(await codeOf(workspace.checkTarget('.env', 'create'))).toBe('no error');
    expect(await codeOf(workspace.checkTarget('.env.local', 'create'))).toBe('PROTECTED_PATH');
    expect(await codeOf(workspace.checkTarget('.orion/x', 'create'))).toBe('PROTECTED_PATH');
  });

  it.each<[readonly string[], readonly string[]]>([
    [['.github/**', '!.github/workflows/**'], ['.github/a.md']],
    [['!.github/workflows/**', '.github/**', ''], ['.github/a.md']],
    [['!.github/workflows/**'], []],
    [['', '!'], []],
    [['!(.git)/**'], []],
  ])('with the allow globs %j: %j', async (allowPaths, allowed) => {
    const { again } = await openTestWorkspace();
    const workspace = await again({ settings: { allowPaths } });
    const paths = ['.env', '.git/hooks/x', '.github/a.md', '.github/workflows/x.yml'];
    const codes = await Promise.all(
      paths.map((path) => codeOf(workspace.checkTarget(path, 'create'))),
    );
    expect(paths.filter((_path, index) => codes[index] === 'no error')).toEqual(allowed);
  });

  it('not to be written by a link to a name that no target may have', async () => {
    const { root, workspace } = await openTestWorkspace();
    for (const [link, name] of [
      ['blank', 'Old reports '],
      ['dot', 'v1.'],
      ['percent', '%2e'],
    ] as const) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, 'a.md'), 'text');
      symlinkSync(name, join(root, link));
      // Its change could not be undone: it is recorded by the real name.
      expect(await codeOf(workspace.checkTarget(`${link}/a.md`, 'overwrite'))).toBe(
        'INVALID_TARGET',
      );
    }
  });

  it('without asking for package.json where nobody can be asked', async () => {
    const { workspace, again } = await openTestWorkspace();
    expect(await codeOf(workspace.checkTarget('package.json', 'create'))).toBe('no error');
    const interactive = await again({ settings: { interactive: true } });
    expect(await codeOf(interactive.checkTarget('package.json', 'create'))).toBe('PROTECTED_PATH');
  });

  it.each([
    ['create', 'file.txt', 'FILE_EXISTS'],
    ['append', 'none.txt', 'FILE_NOT_FOUND'],
    ['append', 'dir/none/x', 'FILE_NOT_FOUND'],
    ['create', 'dir', 'IS_DIRECTORY'],
  ] as const)('%s %s: %s', async (operation, target, code) => {
    const { root } = await treeWithLinks();
    const { workspace } = await openTestWorkspace({ root });
    expect(await codeOf(workspace.checkTarget(target, operation))).toBe(code);
  });
});

it('whatever the target, a write lands inside the root', async () => {
  const { root, outside } = await treeWithLinks();
  const { workspace } = await openTestWorkspace({ root });
  const name = fc.constantFrom(
    '..',
    '.',
    '',
    'dir',
    'deeper',
    'new',
    'to-file',
    'to-dir',
    'chain',
    'up',
    'up-and-in',
    'to-outside',
    'absolute-in',
    'dangling-dir',
    'dangling-outside',
    'out',
    'proc',
    'ws',
    'ws-evil',
    '%2e%2e',
    '..\\..',
  );
  const target = fc
    .tuple(fc.constantFrom('', '/', `${root}/`, `${root}/../`), fc.array(name, { maxLength: 6 }))
    .map(([start, names]) => start + names.join('/'));
  await fc.assert(
    fc.asyncProperty(target, async (path) => {
      let found;
      try {
        found = await workspace.checkTarget(path, 'overwrite');
      } catch {
        return;
      }
      expect(isInside(root, found.realPath)).toBe(true);
      await workspace.commit(commitRequest('overwrite', found, 'x'));
      expect(isInside(root, realpathSync(found.realPath))).toBe(true);
      expect(existsSync(join(outside, 'new'))).toBe(false);
    }),
    { numRuns: 250 },
  );
}, 30_000);
