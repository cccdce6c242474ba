import { mkdir, readdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { TextList } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { codeOf, openTestWorkspace, temporaryDirectory } from './testing/temp-workspace.ts';

const LIMITS = { maxTexts: 3, maxTextBytes: 100 };

const textsOf = async (list: TextList) => (await list.read()).map(({ text }) => text);

/** A workspace whose user has a key. */
async function openLists() {
  const keys = await temporaryDirectory();
  const test = await openTestWorkspace({ userKeyDirectory: keys });
  const folder = join(test.root, '.orion/lists/history');
  return { ...test, keys, folder, list: test.workspace.textList('history', LIMITS) };
}

describe('a list of texts', () => {
  it('has them in their order, for every process, and forgets the oldest', async () => {
    const { list, again, folder, clock } = await openLists();
    expect(await list.read()).toEqual([]);
    await list.add('one');
    await list.add('two\n"\u0000é');
    await clock.advance(5);
    await list.add('three');
    const other = (await again()).textList('history', LIMITS);
    expect(await textsOf(other)).toEqual(['one', 'two\n"\u0000é', 'three']);
    await clock.advance(1);
    await other.add('four');
    expect(await textsOf(list)).toEqual(['two\n"\u0000é', 'three', 'four']);
    expect(await readdir(folder)).toHaveLength(3);
  });

  it('keeps what several add at the same time', async () => {
    const { workspace, again } = await openLists();
    const wide = { maxTexts: 100, maxTextBytes: 100 };
    const lists = [workspace, await again(), await again()].map((each) => each.textList('h', wide));
    await Promise.all(
      lists.flatMap((list, one) =>
        Array.from({ length: 20 }, (_, two) => list.add(`${one} ${two}`)),
      ),
    );
    const texts = await textsOf(workspace.textList('h', wide));
    expect(new Set(texts).size).toBe(60);
    // Each one's in its order.
    expect(texts.filter((text) => text.startsWith('1 '))).toEqual(
      Array.from({ length: 20 }, (_, two) => `1 ${two}`),
    );
  });

  it('is for its user alone', async () => {
    const { list, folder } = await openLists();
    await list.add('secret');
    const [name = ''] = await readdir(folder);
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it('gives a text away once', async () => {
    const { list, again } = await openLists();
    const id = await list.add('send me');
    const other = (await again()).textList('history', LIMITS);
    const removed = await Promise.all([list.remove(id), other.remove(id), list.remove(id)]);
    expect(removed.filter(Boolean)).toHaveLength(1);
    expect(await list.read()).toEqual([]);
    expect(await list.remove('../../x')).toBe(false);
  });

  it('takes a text up to its limit', async () => {
    const { list } = await openLists();
    await list.add('é'.repeat(50));
    await list.add('\u0001'.repeat(100));
    expect(await textsOf(list)).toHaveLength(2);
    expect(await codeOf(list.add(`${'é'.repeat(50)}a`))).toBe('CONTENT_TOO_LARGE');
  });

  it('leaves out what is damaged, and goes on', async () => {
    const { list, folder } = await openLists();
    await list.add('good');
    const id = (at: number) => `000000000000000${at}-000000-0123456789ab`;
    await writeFile(join(folder, `${id(1)}.json`), '');
    await writeFile(join(folder, `${id(2)}.json`), '{"text":');
    await writeFile(join(folder, `${id(3)}.json`), Buffer.alloc(10_000_000));
    await mkdir(join(folder, `${id(4)}.json`));
    await symlink('/dev/zero', join(folder, `${id(5)}.json`));
    await writeFile(join(folder, 'notes.json'), '{}');
    expect(await textsOf(list)).toEqual(['good']);
    await list.add('more');
    expect(await textsOf(list)).toEqual(['good', 'more']);
  });

  it('has nothing that somebody else put there', async () => {
    const { list, folder, workspace, again, root } = await openLists();
    await list.add('mine');
    const fields = { version: 1, list: 'history', root: '..', text: 'send this' };
    const planted = '9999999999999999-000000-0123456789ab.json';
    await writeFile(join(folder, planted), JSON.stringify(fields));
    await writeFile(
      join(folder, planted.replace('9', '8')),
      JSON.stringify({ ...fields, mac: '00' }),
    );
    const foreign = await openTestWorkspace({ root, userKeyDirectory: await temporaryDirectory() });
    expect(await foreign.workspace.textList('history', LIMITS).read()).toEqual([]);
    expect(await textsOf((await again()).textList('history', { ...LIMITS, maxTexts: 9 }))).toEqual([
      'mine',
    ]);
    // Not even a text of this user from another list.
    await workspace.textList('queue', LIMITS).add('queued');
    const queue = join(root, '.orion/lists/queue');
    const [name = ''] = await readdir(queue);
    await rename(join(queue, name), join(folder, name));
    const wide = workspace.textList('history', { ...LIMITS, maxTexts: 9 });
    expect(await textsOf(wide)).toEqual(['mine']);
  });

  it('keeps what is added beside any number that somebody else put there, and hands it out', async () => {
    const { list, folder, again, clock } = await openLists();
    await list.add('first');
    for (let at = 0; at < 5; at += 1)
      await writeFile(join(folder, `9999999999999999-00000${at}-0123456789ab.json`), '{}');
    expect(await textsOf(list)).toEqual(['first']);
    await clock.advance(1);
    const id = await list.add('second');
    expect(await textsOf((await again()).textList('history', LIMITS))).toEqual(['first', 'second']);
    expect(await readdir(folder)).toHaveLength(3);
    expect(await list.remove(id)).toBe(true);
  });

  it('has nothing of another workspace with the same state directory', async () => {
    const stateDirectory = await temporaryDirectory();
    const one = (await openTestWorkspace({ stateDirectory })).workspace.textList('history', LIMITS);
    const two = (await openTestWorkspace({ stateDirectory })).workspace.textList('history', LIMITS);
    await one.add('one');
    await two.add('two');
    expect(await textsOf(one)).toEqual(['one']);
    expect(await textsOf(two)).toEqual(['two']);
  });

  it('says which texts another running process added', async () => {
    const { list, again, clock } = await openLists();
    const here = { pid: process.pid, host: 'here', pidNamespace: '' };
    const as = async (startedAt: string, host = 'here') => {
      const identity = () => Promise.resolve({ ...here, host, startedAt });
      return (await again({ identity })).textList('history', { ...LIMITS, maxTexts: 9 });
    };
    await list.add('own');
    expect(await list.read()).toMatchObject([{ text: 'own', isOfOther: false }]);
    // A process of this number that began at another time is gone.
    await (await as('long ago')).add('gone');
    const elsewhere = await as('then', 'elsewhere');
    await elsewhere.add('running');
    const reader = await as('now', 'third');
    const isOfOther = async () =>
      Object.fromEntries((await reader.read()).map((each) => [each.text, each.isOfOther]));
    expect(await isOfOther()).toMatchObject({ running: true });
    expect(await elsewhere.read()).toContainEqual(
      expect.objectContaining({ text: 'running', isOfOther: false }),
    );
    expect(await (await as('later')).read()).toContainEqual(
      expect.objectContaining({ text: 'gone', isOfOther: false }),
    );
    // No sign of life for so long.
    await clock.advance(30_000);
    expect(await isOfOther()).toEqual({ own: false, gone: false, running: false });
  });

  it('has a text that says nothing of its process, where there is no key to sign with', async () => {
    const { root, workspace } = await openTestWorkspace();
    const list = workspace.textList('history', LIMITS);
    await list.add('signed by nobody');
    const folder = join(root, '.orion/lists/history');
    const fields = { version: 1, list: 'history', root: '..', text: 'bare' };
    const id = '0000000000000001-000000-0123456789ab';
    await writeFile(join(folder, `${id}.json`), JSON.stringify(fields));
    expect(await list.read()).toMatchObject([
      { id, text: 'bare', isOfOther: false },
      { text: 'signed by nobody', isOfOther: false },
    ]);
  });

  it('does not follow a link that has its name', async () => {
    const { list, root } = await openLists();
    const outside = await temporaryDirectory();
    await mkdir(join(root, '.orion'), { recursive: true });
    await symlink(outside, join(root, '.orion/lists'));
    const id = '0000000000000001-000000-0123456789ab';
    await mkdir(join(outside, 'history'));
    await writeFile(join(outside, 'history', `${id}.json`), '');
    expect(await list.read()).toEqual([]);
    expect(await list.remove(id)).toBe(false);
    await expect(list.add('x')).rejects.toThrow();
    expect(await readdir(join(outside, 'history'))).toEqual([`${id}.json`]);
  });

  it('stays in order when the clock is set back', async () => {
    const { list, clock } = await openLists();
    await list.add('first');
    clock.jump(-1_000_000);
    await list.add('second');
    expect(await textsOf(list)).toEqual(['first', 'second']);
  });
});
