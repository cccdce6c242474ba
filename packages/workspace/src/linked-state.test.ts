/**
 * Hazard: a cloned repository in whose `.orion` a directory is a link, to the state of another workspace of the same
 * person. It is neither read nor changed through the link. R069, A11, B2.
 */
import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createProcessObserver } from './ownership/process-identity.ts';
import type { ProcessIdentity } from './ownership/process-identity.ts';
import { PlanJournals } from './plan/plan-journal.ts';
import { StateDirectory } from './state-directory.ts';
import {
  codeOf,
  commitRequest,
  openTestWorkspace,
  temporaryDirectory,
  beginSession,
  releasedSession,
} from './testing/temp-workspace.ts';
import type { TestWorkspace } from './testing/temp-workspace.ts';

const OTHERS = 'text of another workspace\n';
const DAY_MS = 24 * 60 * 60 * 1000;
const PLAN_ID = '8f14e45f-ceea-4670-9e4a-0123456789ab';

/** Another process of this host, which has ended. */
const gone = async (): Promise<ProcessIdentity> => ({
  pid: process.pid,
  host: 'here',
  pidNamespace: '',
  startedAt: 'gone',
});
const here = async (): Promise<ProcessIdentity> => ({ ...(await gone()), startedAt: 'here' });

type Victim = {
  readonly test: TestWorkspace;
  readonly userKeyDirectory: string;
  readonly orphan: string;
  readonly discarded: string;
  readonly change: string;
};

/** A workspace with something in each directory of its state, as processes leave it that died. */
async function victim(): Promise<Victim> {
  const userKeyDirectory = await temporaryDirectory();
  const test = await openTestWorkspace({ userKeyDirectory, identity: gone });
  const { root, workspace, clock } = test;
  const change = randomUUID();
  for (const target of ['a.txt', 'b.txt']) {
    const expected = await workspace.checkTarget(target, 'create');
    await workspace.commit({ ...commitRequest('create', expected, target), changeId: change });
  }
  const { id: orphan } = await releasedSession(workspace, 'orphan.txt', OTHERS);
  const { id: discarded } = await releasedSession(workspace, 'discarded.txt', OTHERS);
  await workspace.sessions.discard(discarded);
  const text = workspace.createScratchFile();
  text.append('kept');
  await text.finish();
  await beginSession(workspace, 'held.txt');
  const expected = await workspace.checkTarget('a.txt', 'overwrite');
  const prepared = await workspace.prepareCommit(commitRequest('overwrite', expected, 'new'));
  onTestFinished(() => prepared.discard());
  const { writing } = prepared;
  const state = new StateDirectory(join(root, '.orion'));
  const journals = new PlanJournals(state, createProcessObserver(clock, gone), clock);
  await journals.write(PLAN_ID, true, [writing, { ...writing, target: 'b.txt' }]);
  return { test, userKeyDirectory, orphan, discarded, change };
}

/** Every name below a directory with what stands there. */
function sweep(directory: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const path = join(directory, name);
    const { ino, size, mtimeMs, ctimeMs } = lstatSync(path);
    const bytes = lstatSync(path).isFile() ? readFileSync(path, 'base64') : '';
    found[name] = [ino, size, mtimeMs, ctimeMs, bytes].join(' ');
  }
  return found;
}

const LINKED = [
  '.orion',
  '.orion/logs',
  '.orion/logs/write_sessions',
  '.orion/attic',
  '.orion/backups',
  '.orion/locks',
  '.orion/plans',
  '.orion/temporaries',
  '.orion/texts',
  '.orion/set_aside',
];

/** Links in a new root: the named ones, each to the same name in the victim's. */
async function clone(from: Victim, links: readonly string[]): Promise<TestWorkspace> {
  const { userKeyDirectory, test } = from;
  const root = await temporaryDirectory();
  for (const link of links) {
    mkdirSync(dirname(join(root, link)), { recursive: true });
    symlinkSync(join(test.root, link), join(root, link));
  }
  // The same files as there, so that a backup of theirs would fit.
  for (const name of ['a.txt', 'b.txt']) await writeFile(join(root, name), name);
  return openTestWorkspace({ root, userKeyDirectory, identity: here });
}

async function expectNothingThroughLinks(from: Victim, links: readonly string[]): Promise<void> {
  const hostile = await clone(from, links);
  const before = sweep(from.test.root);
  const { sessions } = hostile.workspace;
  expect(await sessions.list()).toEqual([]);
  expect(await Array.fromAsync(hostile.workspace.changes())).toEqual([]);
  for (const id of [from.orphan, from.discarded]) {
    expect(await codeOf(sessions.claim(id))).toBe('SESSION_NOT_FOUND');
    expect(await codeOf(sessions.discard(id))).toBe('SESSION_NOT_FOUND');
  }
  for (const id of [from.change, undefined]) {
    const undo = hostile.workspace.undo(id === undefined ? {} : { id, force: true });
    expect(await codeOf(undo)).toBe('CHANGE_NOT_FOUND');
  }
  for (const age of [0, 2 * 60 * 60 * 1000, 40 * DAY_MS]) {
    hostile.clock.jump(age);
    expect((await sessions.housekeep()).moved).toEqual([]);
    expect((await sessions.clean({ all: true })).moved).toEqual([]);
  }
  // What has to store something there is refused, or does without.
  const target = await hostile.workspace.checkTarget('a.txt', 'overwrite');
  await codeOf(hostile.workspace.commit(commitRequest('overwrite', target, 'mine')));
  const text = hostile.workspace.createScratchFile();
  text.append('mine');
  await text.finish();
  const listed = await hostile.workspace.listProtected();
  await writeFile(join(hostile.root, '.npmrc'), 'mine');
  await hostile.workspace.protectedChanges(listed, { undo: true });
  await hostile.workspace.close();
  expect(sweep(from.test.root)).toEqual(before);
}

describe('a directory of the state that is a link', () => {
  it.each(LINKED)('%s leads nowhere', async (link) => {
    await expectNothingThroughLinks(await victim(), [link]);
  });

  it('is no better with all the others', async () => {
    await expectNothingThroughLinks(
      await victim(),
      LINKED.filter((link) => !['.orion', '.orion/logs'].includes(link)),
    );
  });

  it('leads nowhere as a single session, backup or plan either', async () => {
    const from = await victim();
    const links = ['logs/write_sessions', 'attic', 'backups', 'plans'].flatMap((inner) =>
      readdirSync(join(from.test.root, '.orion', inner)).map((name) => join('.orion', inner, name)),
    );
    expect(links.length).toBeGreaterThan(6);
    await expectNothingThroughLinks(from, links);
  });

  it('as a kept text, to nothing, keeps no other text from being stored', async () => {
    const { root, workspace } = await openTestWorkspace();
    const texts = join(root, '.orion/texts');
    mkdirSync(texts, { recursive: true, mode: 0o700 });
    symlinkSync('nowhere', join(texts, `${PLAN_ID}.txt`));
    const text = workspace.createScratchFile();
    text.append('cut off');
    const saved = await text.finish();
    expect(saved).toMatchObject({ bytes: 7 });
    expect(readFileSync(join(root, saved?.path ?? ''), 'utf8')).toBe('cut off');
    expect(readdirSync(texts)).toHaveLength(2);
  });
});
