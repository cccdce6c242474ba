import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { compileCacheFolder, possibleWorkspaces, type CacheFacts } from './compile-cache.ts';

/** Hazard: whoever can write into the folder of the compile cache runs code as this user. */

const user = process.getuid?.();
const isRoot = user === 0;
let root: string;
let home: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orion-cache-'));
  home = join(root, 'home');
  mkdirSync(home);
  // Where tests may write is the temporary folder, and there it is never.
  vi.stubEnv('TMPDIR', join(root, 'temporary'));
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

function folderFor(facts: Partial<CacheFacts> = {}): string | null {
  return compileCacheFolder({
    platform: 'linux',
    environment: {},
    homeDirectory: home,
    workspaces: [join(root, 'workspace')],
    user,
    from: root,
    ...facts,
  });
}

const own = (): string => join(home, '.cache/orion/compile');

describe('the folder of the compile cache', () => {
  it('K1: is made in the home, for nobody else', () => {
    expect(folderFor()).toBe(own());
    expect(statSync(own()).mode & 0o777).toBe(0o700);
    expect(statSync(join(home, '.cache')).mode & 0o777).toBe(0o700);
    expect(folderFor()).toBe(own());
  });

  it.each<[string, Partial<CacheFacts>, () => string]>([
    ['$XDG_CACHE_HOME', {}, () => join(root, 'x/orion/compile')],
    ['macOS', { platform: 'darwin' }, () => join(home, 'Library/Caches/orion/compile')],
    ['Windows', { platform: 'win32', user: undefined }, () => join(root, 'local/orion/compile')],
  ])('K1: %s', (_name, facts, expected) => {
    mkdirSync(join(home, 'Library'));
    const environment = {
      ...(facts.platform === undefined ? { XDG_CACHE_HOME: join(root, 'x') } : {}),
      LOCALAPPDATA: join(root, 'local'),
    };
    expect(folderFor({ ...facts, environment })).toBe(expected());
  });

  it.each<[string, Partial<CacheFacts>]>([
    ['no home', { homeDirectory: null }],
    ['a home that is not there', { homeDirectory: '/nonexistent/home' }],
    ['a home without a place', { homeDirectory: 'home' }],
    ['Windows without its variable', { platform: 'win32' }],
  ])('K4: %s: there is none', (_name, facts) => {
    expect(folderFor(facts)).toBeNull();
  });

  it('a relative $XDG_CACHE_HOME does not count', () => {
    expect(folderFor({ environment: { XDG_CACHE_HOME: 'x' } })).toBe(own());
  });

  it('K1: never in the temporary folder, and nothing is made there', () => {
    vi.stubEnv('TMPDIR', home);
    expect(folderFor()).toBeNull();
    vi.stubEnv('TMPDIR', join(root, 'link'));
    symlinkSync(home, join(root, 'link'));
    expect(folderFor()).toBeNull();
    expect(existsSync(join(home, '.cache'))).toBe(false);
  });

  it('K3: never in the workspace, whatever it is called', () => {
    expect(folderFor({ workspaces: [home] })).toBeNull();
    expect(folderFor({ workspaces: [join(root, 'other'), root] })).toBeNull();
    symlinkSync(home, join(root, 'link'));
    expect(folderFor({ workspaces: [join(root, 'link')] })).toBeNull();
    expect(existsSync(join(home, '.cache'))).toBe(false);
    expect(folderFor({ workspaces: [join(root, 'ho')] })).toBe(own());
  });

  it.each(['', '.cache', '.cache/orion', '.cache/orion/compile'])(
    'K2: not when others can write to "%s" of the home',
    (name) => {
      mkdirSync(own(), { recursive: true, mode: 0o700 });
      for (const mode of [0o777, 0o1777, 0o720, 0o702]) {
        chmodSync(join(home, name), mode);
        expect(folderFor(), mode.toString(8)).toBeNull();
      }
      chmodSync(join(home, name), 0o755);
      expect(folderFor()).toBe(own());
    },
  );

  it.each(['.cache', '.cache/orion', '.cache/orion/compile'])(
    'K2: not when "%s" is a link, or no folder',
    (name) => {
      const path = join(home, name);
      mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
      mkdirSync(join(root, 'planted/orion/compile'), { recursive: true });
      symlinkSync(join(root, 'planted'), path);
      expect(folderFor()).toBeNull();
      rmSync(path);
      writeFileSync(path, '');
      expect(folderFor()).toBeNull();
    },
  );

  it.runIf(isRoot)(
    'K2: not when a folder on the way belongs to somebody else, as under sudo',
    () => {
      for (const name of ['.cache/orion/compile', '.cache/orion', '.cache', '']) {
        mkdirSync(own(), { recursive: true, mode: 0o700 });
        chownSync(join(home, name), 12_345, 12_345);
        expect(folderFor(), name).toBeNull();
        // To that user itself what belongs to root is nobody else's.
        expect(folderFor({ user: 12_345 }), name).toBe(own());
        chownSync(join(home, name), 0, 0);
      }
    },
  );
});

it.each<[readonly string[], Record<string, string>, readonly string[]]>([
  [['run', 'x'], {}, ['/here', '/here']],
  [['run', '-C', '../there', 'x'], {}, ['/here', '/there', '/here']],
  [['run', '-C/there'], {}, ['/here', '/there', '/here']],
  [['run', '--cwd=there', '--cwd', '/a'], {}, ['/here', '/here/there', '/a', '/here']],
  [['run', '-C'], { ORION_CWD: '/b' }, ['/b', '/here', '/here']],
])('%j with %j may work in %j', (argv, environment, expected) => {
  expect(possibleWorkspaces({ argv, environment, currentDirectory: '/here' })).toEqual(expected);
});
