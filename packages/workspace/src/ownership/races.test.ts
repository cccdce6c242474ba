/** Leases and locks among real processes: always exactly one winner. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProcess } from '../testing/other-process.ts';
import type { Answer, OtherProcess } from '../testing/other-process.ts';
import {
  eventually,
  jsonAt,
  openTestWorkspace,
  temporaryDirectory,
  textOf,
  beginSession,
  RECORD,
} from '../testing/temp-workspace.ts';

async function orphan(root: string, text: string): Promise<string> {
  const owner = await startProcess({ root });
  const { id } = await owner.send({ do: 'begin', target: 'a.txt' });
  await owner.send({ do: 'append', text });
  await owner.send({ do: 'save' });
  await owner.kill();
  return String(id);
}

function winners(answers: readonly Answer[]): readonly Answer[] {
  return answers.filter((answer) => answer['error'] === undefined);
}

async function several(root: string, count: number): Promise<readonly OtherProcess[]> {
  return Promise.all(Array.from({ length: count }, () => startProcess({ root })));
}

describe('processes that share a workspace', () => {
  it('A5: leave a live session alone and share out a dead one', async () => {
    const root = await temporaryDirectory();
    const [a, b, c] = await several(root, 3);
    if (a === undefined || b === undefined || c === undefined) throw new Error('three processes');
    const { id } = await a.send({ do: 'begin', target: 'a.txt' });
    await a.send({ do: 'append', text: 'one\ntwo\n' });
    await a.send({ do: 'save' });
    await a.send({ do: 'append', text: 'three\n' });
    const content = join(root, '.orion/logs/write_sessions', String(id), 'content.txt');
    await eventually(async () => (await readFile(content)).length === 14, 'the third line');

    expect(Object.values(await b.send({ do: 'list' }))).toMatchObject([
      { status: 'live', pid: a.pid, recoverable: false },
    ]);
    expect(await b.send({ do: 'clean' })).toMatchObject({ moved: [] });
    expect(await b.send({ do: 'claim', id })).toEqual({ error: 'SESSION_BUSY' });
    expect(await b.send({ do: 'begin', target: 'a.txt' })).toEqual({ error: 'TARGET_LOCKED' });

    await a.kill();
    expect(Object.values(await b.send({ do: 'list' }))).toMatchObject([
      { status: 'orphan', lines: 3, recoverable: true },
    ]);
    const answers = await Promise.all([b.send({ do: 'claim', id }), c.send({ do: 'claim', id })]);
    expect(winners(answers)).toEqual([{ bytes: 14 }]);
    expect(answers.filter((answer) => answer['error'] === 'SESSION_BUSY')).toHaveLength(1);
  }, 20_000);

  for (const { count, tags } of [
    { count: 4, tags: [] },
    { count: 10, tags: ['long'] },
  ]) {
    const title = `A13: hold each of 5 files for one of ${5 * count} sessions at a time, and refuse the others`;
    it(title, { timeout: 60_000, tags }, async () => {
      const root = await temporaryDirectory();
      const processes = await several(root, count);
      const targets = ['0.txt', '1.txt', '2.txt', '3.txt', '4.txt'];
      const command = { do: 'contend', targets, times: 2 };
      const answers = await Promise.all(processes.map((other) => other.send(command)));
      expect(answers.map(({ both }) => both)).toEqual(processes.map(() => 0));
      expect(answers.some(({ refused }) => Number(refused) > 0)).toBe(true);
      expect(await readdir(join(root, '.orion/locks'))).toEqual([]);
    });
  }

  it('A13: keep each version that one of them replaced after the other', async () => {
    const root = await temporaryDirectory();
    const processes = await several(root, 3);
    await writeFile(join(root, 'a.txt'), 'first\n');
    const versions: string[] = [];
    for (const other of [...processes, ...processes]) {
      versions.push(await readFile(join(root, 'a.txt'), 'utf8'));
      const command = { do: 'commit', target: 'a.txt', operation: 'append' };
      expect(await other.send(command)).toMatchObject({ path: 'a.txt' });
    }
    const backups = join(root, '.orion/backups');
    const kept = (await readdir(backups)).map((id) =>
      readFile(join(backups, id, 'content'), 'utf8'),
    );
    expect((await Promise.all(kept)).toSorted()).toEqual(versions.toSorted());
    expect(new Set(versions).size).toBe(6);
  }, 20_000);

  it('let exactly one recover, discard or clean the same orphan', async () => {
    const root = await temporaryDirectory();
    const processes = await several(root, 4);
    const { workspace } = await openTestWorkspace({ root });
    const id = await orphan(root, 'text\n');
    const commands: readonly Answer[] = [
      { do: 'claim', id },
      { do: 'clean' },
      { do: 'claim', id },
      { do: 'discard', id },
    ];
    for (let round = 0; round < 8; round += 1) {
      const answers = await Promise.all(
        processes.map((other, index) => other.send(commands[(index + round) % 4] ?? {})),
      );
      const said = JSON.stringify(answers);
      const claims = answers.filter((answer) => answer['bytes'] === 5 && !answer['moved']);
      const moved = answers.filter(
        (answer) => Array.isArray(answer['moved']) && answer['moved'][0],
      );
      // What was moved to the attic may rightly be claimed from there by one that came later.
      expect(claims.length, said).toBeLessThanOrEqual(1);
      expect(moved.length, said).toBeLessThanOrEqual(1);
      expect(winners(answers).length, said).toBeGreaterThanOrEqual(1);
      const listed = await workspace.sessions.list();
      if (claims.length === 1) {
        expect(listed, said).toMatchObject([{ session_id: id, status: 'live', bytes: 5 }]);
      } else {
        expect(listed, said).toEqual([]);
      }
      await Promise.all(processes.map((other) => other.send({ do: 'release' })));
      expect(await textOf(workspace.sessions.readContent(id))).toBe('text\n');
    }
  }, 30_000);

  it('let exactly one begin on the target of a dead owner', async () => {
    const root = await temporaryDirectory();
    await orphan(root, 'text\n');
    const processes = await several(root, 4);
    const answers = await Promise.all(
      processes.map((other) => other.send({ do: 'begin', target: 'a.txt' })),
    );
    expect(winners(answers)).toHaveLength(1);
    expect(answers.filter((answer) => answer['error'] === 'TARGET_LOCKED')).toHaveLength(3);
  }, 20_000);

  it('do not recover a session whose target another one has taken', async () => {
    const root = await temporaryDirectory();
    const id = await orphan(root, 'text\n');
    const [first, second] = await several(root, 2);
    await first?.send({ do: 'begin', target: 'a.txt' });
    expect(await second?.send({ do: 'claim', id })).toEqual({ error: 'TARGET_LOCKED' });
    await first?.kill();
    expect(await second?.send({ do: 'claim', id })).toEqual({ bytes: 5 });
  }, 20_000);

  it('take a reused pid for a dead owner', async () => {
    const { root, workspace, again } = await openTestWorkspace();
    const handle = await beginSession(workspace);
    handle.append('text\n');
    await handle.release();
    const lease = join(handle.directory, 'lease.json');
    const record = await jsonAt(lease);
    // This very process runs, but it did not start then.
    const earlier = { ...record, process_started_at: 'another-boot:1' };
    await writeFile(lease, JSON.stringify({ ...earlier, released: undefined }));
    const other = await again();
    expect((await other.sessions.list())[0]?.status).toBe('orphan');
    const claimed = await other.sessions.claim(handle.id);
    expect(await textOf(claimed.handle.readContent())).toBe('text\n');
    expect(root).toBe(other.root);
  });

  it('never let a suspended owner write again once it was taken over', async () => {
    const root = await temporaryDirectory();
    const sleeper = await startProcess({ root, hostname: 'elsewhere' });
    const { id } = await sleeper.send({ do: 'begin', target: 'a.txt' });
    await sleeper.send({ do: 'append', text: 'one\n' });
    await sleeper.send({ do: 'save' });
    sleeper.signal('SIGSTOP');

    const { clock, workspace } = await openTestWorkspace({ root });
    expect((await workspace.sessions.list())[0]?.status).toBe('live');
    clock.jump(31_000);
    const claimed = await workspace.sessions.claim(String(id));
    claimed.handle.append('two\n');
    await claimed.handle.save({ ...RECORD, state: 'session_active.paused' });

    sleeper.signal('SIGCONT');
    await sleeper.send({ do: 'append', text: 'from the dead\n'.repeat(10_000) });
    await sleeper.send({ do: 'save' });
    expect(await sleeper.send({ do: 'lost' })).toEqual({ lost: true });
    expect(await textOf(claimed.handle.readContent())).toBe('one\ntwo\n');
    expect(await readFile(claimed.handle.contentPath(), 'utf8')).toBe('one\ntwo\n');
    expect(claimed.handle.lost.aborted).toBe(false);
    await claimed.handle.save({ ...RECORD, state: 'session_active.paused' });
    expect(await jsonAt(join(claimed.handle.directory, 'state.json'))).toMatchObject({
      state: 'session_active.paused',
      buffer_size: 8,
    });
  }, 20_000);
});
