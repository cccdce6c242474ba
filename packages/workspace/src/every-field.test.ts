/**
 * What comes of each file of the state when one of its fields is missing, or of another kind: what is read of it, what
 * is told, and what lies in the workspace then. Other tests say what matters of it; this one notices any other change.
 * `ORION_EVERY_TEST=1 vitest run packages/workspace/src/every-field.test.ts -u` writes the files anew.
 */
import { cp, lstat, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';

import type { TurnRecord } from '@orion/contracts';
import { expect, test } from 'vitest';

import { createProcessObserver } from './ownership/process-identity.ts';
import { PlanJournals } from './plan/plan-journal.ts';
import { StateDirectory } from './state-directory.ts';
import {
  commitRequest,
  metadataFor,
  openTestWorkspace,
  RECORD,
  sha256,
  temporaryDirectory,
  textOf,
  writingRecord,
  TURN,
  steady,
} from './testing/temp-workspace.ts';
import type { TestWorkspace } from './testing/temp-workspace.ts';

type Fields = Readonly<Record<string, unknown>>;
type Scene = {
  /** Leaves the state as it is to be read. */
  readonly before: (opened: TestWorkspace) => Promise<void>;
  /** The files whose fields change, as parts of their paths. */
  readonly files: readonly string[];
  readonly act: (opened: TestWorkspace) => Promise<unknown>;
  readonly isLong?: true;
};

const ID = '7f3a0000-0000-4000-8000-000000000001';
const PLAN = '8f14e45f-ceea-4670-9e4a-0123456789ab';
const VALUES: readonly unknown[] = [null, 'x', 5];
const DAY_MS = 24 * 60 * 60 * 1000;

const ASKED: TurnRecord = {
  ...TURN,
  messages: [{ role: 'user', content: 'write' }],
  options: { temperature: 1 },
};

async function change({ workspace }: TestWorkspace, text: string): Promise<string | undefined> {
  const expected = await workspace.checkTarget('a.txt', 'overwrite');
  return (await workspace.commit(commitRequest('overwrite', expected, text))).backup_id;
}

/** No process has this id: it is beyond the largest one. */
const NO_PID = 4_194_304;

const SCENES: Readonly<Record<string, Scene>> = {
  'temporary file': {
    before: async (opened) => {
      const { root, clock } = opened;
      const temporary = '.orion-0123456789abcdef.tmp';
      await writeFile(join(root, 'a.txt'), 'old\n');
      const backupId = await change(opened, 'new\n');
      await writeFile(join(root, temporary), 'half');
      const owner = await createProcessObserver(clock).newOwner();
      await writeFile(
        join(root, '.orion/temporaries', `${temporary}.json`),
        JSON.stringify({ ...owner, pid: NO_PID, root: '..', temporary, backup_id: backupId }),
      );
    },
    files: ['.orion/temporaries/'],
    act: async ({ workspace }) => {
      await workspace.sessions.housekeep();
      return Array.fromAsync(workspace.changes());
    },
  },
  session: {
    isLong: true,
    before: async ({ workspace }) => {
      const metadata = await metadataFor(workspace, 'a.txt');
      const handle = await workspace.sessions.begin({ ...metadata, session_id: ID }, ASKED);
      handle.append('one\ntwo');
      await handle.save({ ...RECORD, seams: [], inner_done_lines: [1] });
      await handle.recordWriting(writingRecord(sha256('one\n')));
      await handle.release();
    },
    files: ['metadata.json', 'state.json', 'turn.json', 'lease.json', 'writing.json'],
    act: async ({ workspace }) => {
      const list = await workspace.sessions.list();
      const claimed = await workspace.sessions.claim(ID).then(async ({ handle, ...rest }) => {
        const text = await textOf(handle.readContent());
        await handle.release();
        return { ...rest, text, metadata: handle.metadata };
      }, told);
      return { list, claimed };
    },
  },
  backup: {
    before: async (opened) => {
      await writeFile(join(opened.root, 'a.txt'), 'old\n');
      await change(opened, 'new\n');
    },
    files: ['.orion/backups/'],
    act: async ({ workspace }) => ({
      changes: await Array.fromAsync(workspace.changes()).catch(told),
      undone: await workspace.undo({}).catch(told),
    }),
  },
  plan: {
    isLong: true,
    before: async (opened) => {
      const { root, clock } = opened;
      await writeFile(join(root, 'a.txt'), 'old\n');
      const backupId = await change(opened, 'new\n');
      const writing = writingRecord(sha256('new\n'));
      const result = {
        ...writing.result,
        ...(backupId === undefined ? {} : { backup_id: backupId }),
      };
      const journals = new PlanJournals(
        new StateDirectory(join(root, '.orion')),
        createProcessObserver(clock),
        clock,
      );
      const journal = await journals.write(PLAN, true, [
        { ...writing, target: 'a.txt', before: sha256('old\n'), result },
        { ...writing, target: 'b.txt', before: null, after: sha256('never') },
      ]);
      await journal.release();
    },
    files: ['journal.json'],
    act: async ({ workspace, clock }) => {
      await workspace.sessions.housekeep();
      await clock.advance(DAY_MS / 2);
      await workspace.sessions.housekeep();
    },
  },
};

/** An object, then without one field after the other, and with other values of each. */
function* variants(fields: Fields): Generator<readonly [change: string, fields: Fields]> {
  for (const [key, own] of Object.entries(fields)) {
    const { [key]: _, ...others } = fields;
    yield [`without ${key}`, others];
    for (const value of VALUES)
      yield [`${key} ${JSON.stringify(value)}`, { ...fields, [key]: value }];
    const inner = Array.isArray(own) ? (own[0] as unknown) : own;
    if (typeof inner !== 'object' || inner === null) continue;
    for (const [change, changed] of variants(inner as Fields))
      yield [
        `${key}: ${change}`,
        { ...fields, [key]: Array.isArray(own) ? [changed, ...own.slice(1)] : changed },
      ];
  }
}

function told(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, details } = error as Error & Fields;
  return { message: error.message, code, details };
}

/** A line for each value. */
function leavesOf(name: string, value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([key, inner]) => leavesOf(`${name}/${key}`, inner))
    : [`${name} ${JSON.stringify(value) ?? ''}`];
}

const isRefusal = (line: string): boolean => line.startsWith('/claimed/code');

/** Names that are new in every run, by what they are. */
function shown(root: string, text: string): string {
  return steady(text)
    .replaceAll(root, '<root>')
    .replaceAll(/\/(age_ms|pid|mtime) \d+/g, '/$1')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/DONE [0-9a-f]{4}/g, 'DONE <id>');
}

/** The files that a person sees, and the names of the state. */
async function treeOf(root: string): Promise<readonly string[]> {
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  const lines = found.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    const name = relative(root, path);
    if ((await lstat(path)).isDirectory()) return `${name}/`;
    return name.startsWith('.orion')
      ? name
      : `${name} ${JSON.stringify(await readFile(path, 'utf8'))}`;
  });
  return (await Promise.all(lines)).toSorted();
}

for (const [name, { before, files, act, isLong = false }] of Object.entries(SCENES)) {
  test(name, { timeout: 60_000, tags: isLong ? ['long'] : [] }, async () => {
    const userKeyDirectory = await temporaryDirectory();
    const template = await openTestWorkspace({ userKeyDirectory });
    await before(template);
    await template.workspace.close();
    const kept = `${template.root}-kept`;
    await cp(template.root, kept, { recursive: true, preserveTimestamps: true });
    const own = (await readdir(kept, { recursive: true })).filter(
      (path) => path.endsWith('.json') && files.some((part) => path.includes(part)),
    );

    const outcome = async (path: string, fields: Fields | null): Promise<string> => {
      await rm(template.root, { recursive: true });
      await cp(kept, template.root, { recursive: true, preserveTimestamps: true });
      if (fields !== null) await writeFile(join(template.root, path), JSON.stringify(fields));
      const opened = await openTestWorkspace({ root: template.root, userKeyDirectory });
      const result = await act(opened).catch(told);
      await opened.workspace.close();
      const lines = [
        ...leavesOf('', result),
        ...opened.events.map((event) => JSON.stringify(event)),
        ...(await treeOf(template.root)),
      ];
      return lines.map((line) => shown(template.root, line)).join('\n');
    };

    const whole = (await outcome('', null)).split('\n');
    const text: string[] = ['as it is', ...whole];
    for (const path of own.toSorted()) {
      const fields = JSON.parse(await readFile(join(kept, path), 'utf8')) as Fields;
      const results: { readonly change: string; readonly result: string }[] = [];
      for (const [change, changed] of variants(fields)) {
        const lines = (await outcome(path, changed)).split('\n');
        const result = [
          ...whole
            // A refusal has nothing of it.
            .filter((line) => !(lines.some(isRefusal) && line.startsWith('/claimed')))
            .filter((line) => !lines.includes(line))
            .map((line) => `- ${line}`),
          ...lines.filter((line) => !whole.includes(line)).map((line) => `+ ${line}`),
        ].join('\n');
        results.push({ change, result });
      }
      text.push(`== ${basename(path)}`);
      for (const [result, same] of Map.groupBy(results, (each) => each.result))
        text.push(
          same.map((each) => each.change).join(', '),
          result === '' ? '  the same' : result,
        );
    }
    await rm(kept, { recursive: true });
    await expect(`${text.join('\n')}\n`).toMatchFileSnapshot(
      `__snapshots__/every-field/${name.replaceAll(' ', '-')}.txt`,
    );
  });
}
