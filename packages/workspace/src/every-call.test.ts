/**
 * What each change asks of the disk, call by call, and what comes of it when one of them fails: the error, the events,
 * and what lies in the workspace then. Other tests say what matters of it; this one notices any other change of it.
 * `ORION_EVERY_TEST=1 vitest run packages/workspace/src/every-call.test.ts -u` writes the files anew.
 */
import { lstat, readFile, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

import type { Workspace } from '@orion/contracts';
import { interceptDisk } from '@orion/testkit/disk-faults';
import type { DiskCall } from '@orion/testkit/disk-faults';
import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  commitRequest,
  metadataFor,
  openTestWorkspace,
  RECORD,
  sourceOf,
  temporaryDirectory,
  textOf,
  writingRecord,
  TURN,
  steady,
} from './testing/temp-workspace.ts';
import type { TestWorkspace } from './testing/temp-workspace.ts';

type Prepared = TestWorkspace & { readonly id: string };
type Scene = {
  readonly name: string;
  /** Before the calls are watched. */
  readonly before?: (opened: TestWorkspace) => Promise<string>;
  readonly act: (prepared: Prepared) => Promise<unknown>;
  /** Which calls fail, one after the other; all when left out. */
  readonly only?: readonly string[];
};

/** Of every `npm test`; the others come with `npm run test:long`. */
const SHARE: ReadonlySet<string> = new Set(['session', 'overwrite']);

/** These only look, and where one looks may change without anything else. */
const LOOKS: readonly string[] = ['lstat', 'stat', 'fstat', 'realpath', 'readlink', 'access'];
const CHANGES = ['rename', 'link', 'unlink', 'mkdir', 'fsync', 'write', 'fchmod'];

const ID = '7f3a0000-0000-4000-8000-000000000001';
const PLAN = '8f14e45f-ceea-4670-9e4a-0123456789ab';
async function begin(workspace: Workspace) {
  const metadata = await metadataFor(workspace, 'a.txt');
  return workspace.sessions.begin({ ...metadata, session_id: ID }, TURN);
}

/** A session with text that nobody holds. */
async function leaveSession({ workspace }: TestWorkspace): Promise<string> {
  const handle = await begin(workspace);
  handle.append('one\ntwo');
  await handle.save(RECORD);
  await handle.release();
  return handle.id;
}

async function change(workspace: Workspace, text: string): Promise<unknown> {
  const expected = await workspace.checkTarget('a.txt', 'overwrite');
  return workspace.commit(commitRequest('overwrite', expected, text));
}

async function changed({ root, workspace }: TestWorkspace): Promise<string> {
  await writeFile(join(root, 'a.txt'), 'old\n', { mode: 0o640 });
  await change(workspace, 'new\n');
  return '';
}

const SCENES: readonly Scene[] = [
  {
    name: 'session',
    act: async ({ workspace }) => {
      const handle = await begin(workspace);
      handle.append('one\n');
      const saved = await handle.save(RECORD);
      handle.appendPending('held');
      handle.setAside('aside');
      handle.append('two\n');
      const again = await handle.save({ ...RECORD, content_start: 4 });
      const text = await textOf(handle.readContent());
      await handle.recordWriting(writingRecord('f'.repeat(64)));
      const removed = await handle.remove();
      return { saved, again, text, removed, persistence: handle.persistence() };
    },
  },
  {
    name: 'session-started-over',
    act: async ({ workspace }) => {
      const handle = await begin(workspace);
      handle.append('one\ntwo\nthree\n');
      await handle.save(RECORD);
      await handle.startOver(RECORD);
      handle.append('four\n');
      await handle.save(RECORD);
      const text = await textOf(handle.readContent());
      await handle.release();
      return { text, persistence: handle.persistence() };
    },
  },
  {
    name: 'claim',
    before: leaveSession,
    act: async ({ workspace, id }) => {
      const { handle, record, turn, writing, notes } = await workspace.sessions.claim(id);
      const text = await textOf(handle.readContent());
      await handle.release();
      return { record, turn, writing, notes, text };
    },
  },
  {
    name: 'list',
    only: ['open', 'read', 'readdir'],
    before: leaveSession,
    act: async ({ workspace, id }) => ({
      list: await workspace.sessions.list(),
      text: await textOf(workspace.sessions.readContent(id)),
      turn: await workspace.sessions.readTurn(id),
    }),
  },
  {
    name: 'discard',
    before: leaveSession,
    act: ({ workspace, id }) => workspace.sessions.discard(id),
  },
  {
    name: 'create',
    act: async ({ workspace }) => {
      const expected = await workspace.checkTarget('docs/b.txt', 'create');
      return workspace.commit(commitRequest('create', expected, 'one\n', 'two\n'));
    },
  },
  {
    name: 'overwrite',
    only: CHANGES,
    before: async ({ root }) => {
      await writeFile(join(root, 'a.txt'), 'old\r\n', { mode: 0o640 });
      return '';
    },
    act: ({ workspace }) => change(workspace, 'new\n'),
  },
  {
    name: 'undo',
    only: ['rename', 'link', 'unlink', 'fsync'],
    before: changed,
    act: async ({ workspace }) => ({
      undone: await workspace.undo({}),
      changes: await Array.fromAsync(workspace.changes()),
    }),
  },
  {
    name: 'plan',
    only: ['rename', 'link', 'unlink', 'mkdir'],
    before: async ({ root }) => {
      await writeFile(join(root, 'a.txt'), 'old\n');
      return '';
    },
    act: async ({ workspace }) =>
      workspace.commitPlan({
        planId: PLAN,
        siblingBackups: true,
        atomic: true,
        changes: await Promise.all(
          ['a.txt', 'b.txt'].map(async (target) => ({
            target,
            operation: 'overwrite' as const,
            parts: [{ kind: 'new' as const, source: sourceOf('new\n') }],
            eol: 'as-is' as const,
            expected: await workspace.checkTarget(target, 'overwrite'),
          })),
        ),
      }),
  },
  {
    name: 'scratch-file',
    act: async ({ workspace }) => {
      const kept = workspace.createScratchFile();
      kept.append('one\n');
      kept.append('two\n');
      const file = await kept.finish();
      const other = workspace.createScratchFile();
      other.append('gone');
      await other.discard();
      return file;
    },
  },
  {
    name: 'read',
    before: async ({ root }) => {
      await writeFile(join(root, 'a.txt'), 'one\ntwo\nthree');
      await writeFile(join(root, 'AGENTS.md'), '# Rules\n');
      return '';
    },
    act: async ({ workspace }) => ({
      text: await workspace.readText('a.txt', { firstLine: 2, maxLines: 1, maxBytes: 100 }),
      files: await workspace.listFiles(1),
      instructions: await workspace.readInstructions(4),
    }),
  },
];

let disk: Awaited<ReturnType<typeof interceptDisk>>;
beforeAll(async () => {
  disk = await interceptDisk();
});
afterAll(() => disk.restore());

/** One run in a folder of its own; `fails` is the call that does. */
async function run({ before, act }: Scene, fails: string | null) {
  const userKeyDirectory = await temporaryDirectory();
  const opened = await openTestWorkspace({ userKeyDirectory });
  const shown = namesFor(opened.root, userKeyDirectory);
  const id = (await before?.(opened)) ?? '';
  opened.events.splice(0);
  const calls = new Map<string, number>();
  disk.use((call) => {
    if (LOOKS.includes(call.name)) return null;
    const text = shown(describe(call));
    calls.set(text, (calls.get(text) ?? 0) + 1);
    return text === fails ? { kind: 'error', code: 'EIO' } : null;
  });
  const outcome = await act({ ...opened, id }).then(
    (result) => ({ result }),
    (error: unknown) => ({ error: told(error) }),
  );
  disk.use(null);
  const left = await treeOf(opened.root);
  await opened.workspace.close();
  await rm(opened.root, { recursive: true, force: true });
  const said = [outcome, ...opened.events].map((each) => shown(JSON_OF(each)));
  return { calls, said, left: left.map(shown) };
}

const JSON_OF = (value: unknown): string =>
  JSON.stringify(value, (key, each: unknown) => (UNSTEADY.has(key) ? undefined : each));
const UNSTEADY: ReadonlySet<string> = new Set(['age_ms', 'created_at', 'pid', 'mtime']);

function describe({ name, path, to }: DiskCall): string {
  return to === undefined ? `${name} ${path}` : `${name} ${path} -> ${to}`;
}

function told(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, retryable, hint, details } = error as Error & Readonly<Record<string, unknown>>;
  return { message: error.message, code, retryable, hint, details };
}

/** Names that are new in every run, by what they are. */
function namesFor(root: string, keys: string): (text: string) => string {
  return (text) =>
    steady(text)
      // The state asks whether names that differ in case are one.
      .replaceAll(new RegExp(root.replaceAll('.', '\\.'), 'giu'), '<root>')
      .replaceAll(keys, '<keys>')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
      .replaceAll(/\b[0-9a-f]{12,16}\b/g, '<hex>')
      .replaceAll(/\/proc\/\d+\//g, '/proc/<pid>/');
}

/** Everything in the folder: names, modes, and what the files hold. */
async function treeOf(root: string): Promise<readonly string[]> {
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  const lines = found.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    const { mode, size } = await lstat(path);
    const name = `${relative(root, path)} ${(mode & 0o777).toString(8)}`;
    if (entry.isSymbolicLink()) return `${name} -> ${await readlink(path)}`;
    if (!entry.isFile()) return `${name} /`;
    const isText = entry.name.endsWith('.txt') || entry.name === '.gitignore';
    return isText
      ? `${name} ${JSON.stringify(await readFile(path, 'utf8'))}`
      : `${name} ${size > 0}`;
  });
  return (await Promise.all(lines)).toSorted();
}

for (const scene of SCENES) {
  test(scene.name, { timeout: 60_000, tags: SHARE.has(scene.name) ? [] : ['long'] }, async () => {
    const whole = await run(scene, null);
    const lines = [
      // What is asked at the same time has no order.
      ...[...whole.calls].map(([call, times]) => `${times} ${call}`).toSorted(),
      ...whole.said,
      ...whole.left,
    ];
    const { only = [...whole.calls.keys()].map(nameOf) } = scene;
    for (const call of [...whole.calls.keys()].toSorted()) {
      if (!only.includes(nameOf(call))) continue;
      const failed = await run(scene, call);
      lines.push(
        `WITHOUT ${call}`,
        ...failed.said.filter((line) => !whole.said.includes(line)),
        ...whole.left.filter((line) => !failed.left.includes(line)).map((line) => `- ${line}`),
        ...failed.left.filter((line) => !whole.left.includes(line)).map((line) => `+ ${line}`),
      );
    }
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(
      `__snapshots__/every-call/${scene.name}.txt`,
    );
  });
}

function nameOf(call: string): string {
  return call.slice(0, call.indexOf(' '));
}
