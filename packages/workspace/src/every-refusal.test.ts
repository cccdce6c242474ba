/**
 * What is asked of a workspace that it does not do, or does with a remark, and what it says then, word by word. Other
 * tests say what matters of it; this one notices any other change.
 * `vitest run packages/workspace/src/every-refusal.test.ts -u` writes the files anew.
 */
import { chmod, link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { WRITE_OPERATIONS } from '@orion/contracts';
import type { TargetSnapshot } from '@orion/contracts';
import { expect, test } from 'vitest';

import {
  commitRequest,
  metadataFor,
  openTestWorkspace,
  RECORD,
  sha256,
  textOf,
  steady,
} from './testing/temp-workspace.ts';
import type { TestWorkspace } from './testing/temp-workspace.ts';

const ID = '7f3a0000-0000-4000-8000-000000000001';
const OTHER_ID = '7f3a0000-0000-4000-8000-000000000002';

/** A folder with one of each kind of thing in it. */
async function furnish({ root }: TestWorkspace): Promise<void> {
  await mkdir(join(root, 'folder/deep'), { recursive: true });
  await mkdir(join(root, '.git/hooks'), { recursive: true });
  await mkdir(join(root, 'node_modules/a'), { recursive: true });
  await mkdir(join(root, 'ignored'));
  const files: Readonly<Record<string, string | Uint8Array>> = {
    'a.txt': 'one\ntwo\nthree\n',
    'crlf.txt': 'one\r\ntwo',
    'mixed.txt': 'one\r\ntwo\n',
    'bom.txt': '\ufeffone\n',
    'latin.txt': Uint8Array.of(0x61, 0xe9, 0x0a),
    'wide.txt': Uint8Array.of(0xff, 0xfe, 0x61, 0, 0x0a, 0),
    'nul.bin': Uint8Array.of(1, 0, 2, 0),
    'empty.txt': '',
    'long.txt': `${'x'.repeat(5_000)}\nend\n`,
    'folder/b.md': '# b\n',
    'folder/deep/c.ts': 'c;\n',
    'package.json': '{}\n',
    'package-lock.json': '{}\n',
    '.env': 'KEY=1\n',
    '.git/config': '[core]\n',
    '.git/hooks/pre-commit': '#!/bin/sh\n',
    'node_modules/a/index.js': '1;\n',
    '.gitignore': 'ignored/\n*.log\n',
    'ignored/x.txt': 'x\n',
    'own.log': 'x\n',
    'AGENTS.md': '# Rules\nBe brief.\n',
  };
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(root, name), bytes);
  await symlink('a.txt', join(root, 'to-a.txt'));
  await symlink('folder', join(root, 'to-folder'));
  await symlink('nowhere', join(root, 'broken'));
  await symlink('/etc/hosts', join(root, 'outside'));
  await symlink('loop', join(root, 'loop'));
  await link(join(root, 'a.txt'), join(root, 'hard.txt'));
  await writeFile(join(root, 'run.sh'), '#!/bin/sh\n');
  await chmod(join(root, 'run.sh'), 0o755);
}

const PATHS = [
  'a.txt',
  './a.txt',
  'folder/../a.txt',
  'crlf.txt',
  'mixed.txt',
  'bom.txt',
  'latin.txt',
  'wide.txt',
  'nul.bin',
  'empty.txt',
  'long.txt',
  'run.sh',
  'hard.txt',
  'folder',
  'folder/',
  'folder/b.md',
  'folder/deep/c.ts',
  'folder/new.md',
  'new/er/file.txt',
  'a.txt/below',
  'to-a.txt',
  'to-folder/b.md',
  'to-folder/new.md',
  'broken',
  'outside',
  'loop',
  '../beside.txt',
  '/etc/hosts',
  '',
  ' ',
  '.',
  '/',
  'a\u0000b',
  'a\nb',
  'a\u202eb',
  'con.txt',
  'a:b',
  'a\\b',
  '~/a.txt',
  '~',
  'x'.repeat(300),
  `${'d/'.repeat(300)}x`,
  'package.json',
  'package-lock.json',
  '.env',
  '.git/config',
  '.GIT/config',
  '.git/hooks/pre-commit',
  '.github/workflows/ci.yml',
  '.orion/a.txt',
  '.ORION/a.txt',
  '.gitignore',
  'node_modules/a/index.js',
  'ignored/x.txt',
  'AGENTS.md',
  '.vscode/settings.json',
  '.bashrc',
  'Makefile',
  'file\ud800.txt',
];

function shown(root: string, text: string): string {
  return steady(text)
    .replaceAll(root, '<root>')
    .replaceAll(dirname(root), '<above>')
    .replaceAll(/"undo_id":"[0-9a-f-]{36}"/g, '"undo_id":"<id>"')
    .replaceAll(/"(?:age_ms|pid|ino|dev)":\d+,?/g, '');
}

/** Each answer once, with all that leads to it. */
async function answers(
  { root }: TestWorkspace,
  asked: readonly (readonly [name: string, ask: () => Promise<unknown>])[],
): Promise<readonly string[]> {
  const told: { readonly name: string; readonly answer: string }[] = [];
  for (const [name, ask] of asked) {
    const answer: unknown = await ask().then(
      (value) => value ?? null,
      (error: unknown) => {
        if (!(error instanceof Error)) throw error;
        const { code, retryable, hint, details } = error as Error &
          Readonly<Record<string, unknown>>;
        return { refused: error.message, code, retryable, hint, details };
      },
    );
    told.push({ name, answer: shown(root, JSON.stringify(answer)) });
  }
  return [...Map.groupBy(told, ({ answer }) => answer)].flatMap(([answer, same]) => [
    same.map(({ name }) => (name.length > 60 ? `${name.slice(0, 30)}…` : name)).join(' | '),
    `  ${answer}`,
  ]);
}

const snapshotOf = (name: string): string => `__snapshots__/every-refusal/${name}.txt`;

test('targets', async () => {
  const opened = await openTestWorkspace();
  await furnish(opened);
  const asked = PATHS.flatMap((path) =>
    WRITE_OPERATIONS.map(
      (operation) =>
        [
          `${operation} ${JSON.stringify(path)}`,
          () => opened.workspace.checkTarget(path, operation),
        ] as const,
    ),
  );
  const lines = await answers(opened, asked);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(snapshotOf('targets'));
});

test('reading', async () => {
  const opened = await openTestWorkspace();
  await furnish(opened);
  const { workspace } = opened;
  const whole = { maxLines: 100, maxBytes: 1_000 };
  const ranges = [
    { ...whole, firstLine: 2 },
    { ...whole, firstLine: 4 },
    { ...whole, firstLine: 99 },
    { maxLines: 1, maxBytes: 1_000 },
    { maxLines: 2, maxBytes: 5 },
    { maxLines: 1, maxBytes: 1 },
    { firstLine: 3, maxLines: 1, maxBytes: 6 },
  ];
  const lines = await answers(opened, [
    ...PATHS.map((path) => [JSON.stringify(path), () => workspace.readText(path, whole)] as const),
    ...ranges.flatMap((range) =>
      ['a.txt', 'crlf.txt', 'long.txt', 'empty.txt'].map(
        (path) =>
          [`${path} ${JSON.stringify(range)}`, () => workspace.readText(path, range)] as const,
      ),
    ),
    ...[0, 1, 3, 100].map((limit) => [`files ${limit}`, () => workspace.listFiles(limit)] as const),
    ...[0, 1, 5, 100].map(
      (bytes) => [`rules ${bytes}`, () => workspace.readInstructions(bytes)] as const,
    ),
  ]);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(snapshotOf('reading'));
});

test('commits and changes', async () => {
  const opened = await openTestWorkspace({ settings: { maxTargetBytes: 6_000 } });
  await furnish(opened);
  const { root, workspace } = opened;
  const commit = async (
    path: string,
    operation: 'create' | 'overwrite' | 'append',
    text: string,
    more: Partial<TargetSnapshot> = {},
  ): Promise<unknown> => {
    const expected = await workspace.checkTarget(path, operation);
    return workspace.commit(commitRequest(operation, { ...expected, ...more }, text));
  };
  const lines = await answers(opened, [
    ['a create', () => commit('new/a.txt', 'create', 'é\n')],
    ['an append', () => commit('crlf.txt', 'append', 'three\n')],
    ['an overwrite of CRLF', () => commit('crlf.txt', 'overwrite', 'a\nb\n')],
    ['an overwrite of a BOM', () => commit('bom.txt', 'overwrite', 'b\n')],
    ['an overwrite of an executable', () => commit('run.sh', 'overwrite', '#!/bin/bash\n')],
    ['an overwrite through a link', () => commit('to-a.txt', 'overwrite', 'a\n')],
    ['an overwrite of one of two names', () => commit('hard.txt', 'overwrite', 'b\n')],
    ['an append to Latin-1', () => commit('latin.txt', 'append', 'é\n')],
    ['an empty overwrite', () => commit('empty.txt', 'overwrite', '')],
    ['too much', () => commit('a.txt', 'overwrite', 'x'.repeat(6_001))],
    ['too much with what there is', () => commit('long.txt', 'append', 'x'.repeat(1_000))],
    ['no text', () => commit('a.txt', 'overwrite', 'a\u0000b')],
    [
      'on another file than was seen',
      () => commit('a.txt', 'overwrite', 'b', { sha256: sha256('x') }),
    ],
    [
      'on a file that was not there',
      () => commit('folder/b.md', 'overwrite', 'b', { exists: false, sha256: null }),
    ],
    [
      'on a file that is gone',
      () => commit('folder/c.md', 'create', 'b', { exists: true, sha256: sha256('x') }),
    ],
    ['the changes', () => Array.fromAsync(workspace.changes())],
    ['undo of one that there is not', () => workspace.undo({ id: 'no' })],
    ['undo of a path', () => workspace.undo({ id: '../../a' })],
    ['undo', () => workspace.undo({})],
    ['undo again', () => workspace.undo({})],
    [
      'undo of a file that has changed since',
      async () => {
        await commit('folder/b.md', 'overwrite', 'c\n');
        await writeFile(join(root, 'folder/b.md'), 'mine\n');
        return workspace.undo({});
      },
    ],
  ]);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(snapshotOf('commits'));
});

test('sessions', async () => {
  const opened = await openTestWorkspace();
  await furnish(opened);
  const { root, workspace, again } = opened;
  const { sessions } = workspace;
  const handle = await sessions.begin({
    ...(await metadataFor(workspace, 'empty.txt', 'overwrite')),
    session_id: ID,
  });
  handle.append('one\n');
  await handle.save(RECORD);
  const other = await again();
  const ids = [ID, OTHER_ID, 'no', '..', ''];
  const each = (store: typeof sessions, name: string) =>
    ids.flatMap((id) => [
      [`${name}: claim ${id}`, () => store.claim(id).then(({ notes }) => notes)] as const,
      [`${name}: turn ${id}`, () => store.readTurn(id)] as const,
      [`${name}: content ${id}`, () => textOf(store.readContent(id))] as const,
      [`${name}: discard ${id}`, () => store.discard(id)] as const,
    ]);
  const lines = await answers(opened, [
    ['list', () => other.sessions.list()],
    ...each(other.sessions, 'live'),
    [
      'a second one on the same file',
      async () =>
        other.sessions
          .begin({ ...(await metadataFor(other, 'empty.txt', 'overwrite')), session_id: OTHER_ID })
          .then(({ id }) => id),
    ],
    [
      'a commit of the same file',
      async () =>
        other.commit(
          commitRequest('overwrite', await other.checkTarget('empty.txt', 'overwrite'), 'x'),
        ),
    ],
    ...['none.txt', 'a.txt', 'folder', '../x'].map(
      (file) => [`adopt ${file}`, () => sessions.adopt(join(root, file))] as const,
    ),
    ['release', () => handle.release()],
    ['released: save', () => handle.save(RECORD)],
    ['clean', () => other.sessions.clean({ all: false })],
    ['clean all', () => other.sessions.clean({ all: true })],
    ['list then', () => other.sessions.list()],
    ['claim from the attic', () => other.sessions.claim(ID).then(({ notes }) => notes)],
    ['housekeep', () => other.sessions.housekeep()],
  ]);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(snapshotOf('sessions'));
});
