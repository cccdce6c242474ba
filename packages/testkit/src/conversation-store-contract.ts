import { sleep, systemClock } from '@orion/contracts';
import type {
  Clock,
  ConversationStore,
  ConversationSummary,
  Message,
  SaveOutcome,
} from '@orion/contracts';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from './fake-clock.ts';

/**
 * What every store of conversations keeps.
 *
 * 1. Loading returns the history of the last save, message by message, whatever text it contains (R253).
 * 2. A save is whole, and names the state it builds on: of two that build on one state one is there, never a mixture,
 *    and the other one is told (R277).
 * 3. The list is newest first and holds no history.
 */
export function describeConversationStoreContract(
  name: string,
  factory: (options: { readonly clock: Clock }) => Promise<{
    readonly conversations: ConversationStore;
    close(): Promise<void>;
  }>,
): void {
  describe(`conversation store contract: ${name}`, () => {
    let projects = 0;
    /** The clock of a store is a real one. */
    const later = (): Promise<void> => sleep(systemClock, 3);
    const withStore = async (
      use: (store: ConversationStore, projectId: string) => Promise<void>,
    ): Promise<void> => {
      projects += 1;
      const opened = await factory({ clock: createFakeClock() });
      try {
        await use(opened.conversations, `project-${projects}`);
      } finally {
        await opened.close();
      }
    };
    const attempt = (
      store: ConversationStore,
      projectId: string,
      conversationId: string,
      saved: {
        readonly history: readonly Message[];
        readonly revision: number;
        readonly from?: number;
        readonly openSessionId?: string | null;
      },
    ): Promise<SaveOutcome> =>
      store.save({
        conversationId: `${projectId}-${conversationId}`,
        projectId,
        from: 0,
        openSessionId: null,
        ...saved,
      });
    /** Saves like a caller who has just read the conversation. */
    const save = async (
      store: ConversationStore,
      projectId: string,
      conversationId: string,
      history: readonly Message[],
      openSessionId: string | null = null,
    ): Promise<void> => {
      const before = await store.load(`${projectId}-${conversationId}`);
      const revision = before?.revision ?? 0;
      expect(
        await attempt(store, projectId, conversationId, { history, revision, openSessionId }),
      ).toMatchObject({ kind: 'saved' });
    };

    test('what was saved is loaded, whatever the text in it (B24)', () =>
      withStore(async (store, projectId) => {
        const history: Message[] = [
          user('a\u0000b \ud800 alone \udc00 \\u0000'),
          {
            role: 'assistant',
            content: '',
            toolCalls: [
              {
                id: 'c1',
                name: 'read_file',
                state: 'complete',
                arguments: '{"path": "\\u0000\ud800" ',
              },
            ],
          },
          { role: 'tool', toolCallId: 'c1', toolName: 'read_file', content: '\udfff' },
          { role: 'assistant', content: "'; drop table conversation; -- $1 ::text" },
        ];
        await save(store, projectId, 'a', history);
        const loaded = await store.load(`${projectId}-a`);
        expect(loaded?.history).toEqual(history);
        expect(loaded).toMatchObject({
          conversationId: `${projectId}-a`,
          projectId,
          messages: 4,
          openSessionId: null,
        });
      }));

    test('an unknown conversation is null', () =>
      withStore(async (store, projectId) => {
        expect(await store.load(`${projectId}-nothing`)).toBeNull();
      }));

    test('a history may grow, shrink, change and be empty', () =>
      withStore(async (store, projectId) => {
        const long = Array.from({ length: 2_100 }, (_, index) => user(`message ${index}`));
        const histories = [
          [user('one')],
          [user('one'), answer('two'), user('three')],
          [user('one'), answer('another two')],
          [user('one')],
          long,
          long.slice(1),
          [],
          [user('again')],
        ];
        for (const history of histories) {
          await save(store, projectId, 'a', history);
          const loaded = await store.load(`${projectId}-a`);
          expect(loaded?.history).toEqual(history);
          expect(loaded?.messages).toBe(history.length);
        }
      }));

    test('a save keeps when a conversation began, and moves when it was last changed, by the clock of the store', () =>
      withStore(async (store, projectId) => {
        await save(store, projectId, 'a', [user('one')]);
        const first = await store.load(`${projectId}-a`);
        expect(Math.abs((first?.createdAt ?? 0) - Date.now())).toBeLessThan(60_000);
        expect(first?.updatedAt).toBe(first?.createdAt);
        await later();
        await save(store, projectId, 'a', [user('one'), answer('two')]);
        const second = await store.load(`${projectId}-a`);
        expect(second?.createdAt).toBe(first?.createdAt);
        expect(second?.updatedAt).toBeGreaterThan(first?.updatedAt ?? Infinity);
      }));

    test('an open write session is named until it is closed (R068)', () =>
      withStore(async (store, projectId) => {
        await save(store, projectId, 'a', [user('one')], 'session-1');
        expect((await store.load(`${projectId}-a`))?.openSessionId).toBe('session-1');
        expect((await store.list({ projectId, limit: 1 }))[0]?.openSessionId).toBe('session-1');
        await save(store, projectId, 'a', [user('one')]);
        expect((await store.load(`${projectId}-a`))?.openSessionId).toBeNull();
      }));

    test('the list is newest first, of one project or of all, and without histories', () =>
      withStore(async (store, projectId) => {
        for (const id of ['a', 'b', 'c']) {
          await save(store, projectId, id, [user(`hello ${id}`)]);
          await later();
        }
        await save(store, `${projectId}-other`, 'd', [user('hello d')]);
        await later();
        await save(store, projectId, 'a', [user('hello a'), answer('yes')]);
        const titles = async (limit: number): Promise<string[]> =>
          (await store.list({ projectId, limit })).map((summary) => summary.title);
        expect(await titles(10)).toEqual(['hello a', 'hello c', 'hello b']);
        expect(await titles(2)).toEqual(['hello a', 'hello c']);
        expect(await titles(0)).toEqual([]);
        const everything = await store.list({ limit: 4 });
        expect(everything.map((summary) => summary.title)).toEqual([
          'hello a',
          'hello d',
          'hello c',
          'hello b',
        ]);
        expect(everything[0]).toEqual({
          conversationId: `${projectId}-a`,
          projectId,
          title: 'hello a',
          messages: 2,
          createdAt: expect.any(Number),
          updatedAt: expect.any(Number),
          openSessionId: null,
          revision: 2,
        });
      }));

    test('the list is read page by page', () =>
      withStore(async (store, projectId) => {
        for (const id of ['a', 'b', 'c', 'd', 'e']) await save(store, projectId, id, [user(id)]);
        await save(store, `${projectId}-other`, 'f', [user('f')]);
        const titles: string[] = [];
        let after: ConversationSummary | undefined;
        do {
          const page = await store.list({ projectId, limit: 2, ...(after && { after }) });
          titles.push(...page.map(({ title }) => title));
          after = page.at(-1);
        } while (after !== undefined && titles.length < 10);
        expect(titles).toEqual(['e', 'd', 'c', 'b', 'a']);
      }));

    test('a renamed conversation keeps its name when it goes on, and what was begun can be saved', () =>
      withStore(async (store, projectId) => {
        const id = `${projectId}-a`;
        const first = [user('one'), answer('1')];
        expect(await store.rename(id, 'too early')).toBe(false);
        const save = (history: readonly Message[], from: number, revision: number) =>
          store.save({
            conversationId: id,
            projectId,
            history,
            from,
            openSessionId: null,
            revision,
          });
        expect(await save(first, 0, 0)).toMatchObject({ kind: 'saved' });
        expect(await store.rename(id, `  my\n\u001b[31m guide ${'x'.repeat(100)}`)).toBe(true);
        const { revision, title } = (await store.load(id)) ?? { revision: 0, title: '' };
        expect(title).toMatch(/^my \[31m guide/u);
        expect([...title].length).toBeLessThanOrEqual(80);
        expect(await save([user('two')], 2, 1)).toMatchObject({ kind: 'saved' });
        expect((await store.load(id))?.title).toBe(title);
        expect((await store.list({ projectId, limit: 1 }))[0]?.title).toBe(title);
        expect(revision).toBe(1);
      }));

    test('a title is one short line of what a person wrote first', () =>
      withStore(async (store, projectId) => {
        const titleOf = async (history: readonly Message[]): Promise<string> => {
          await save(store, projectId, 'a', history);
          return (await store.load(`${projectId}-a`))?.title ?? '';
        };
        expect(await titleOf([])).toBe('');
        expect(await titleOf([answer('hello')])).toBe('');
        expect(await titleOf([answer('x'), user('  write\r\n\u001b[31ma\u0000 file\t')])).toBe(
          'write [31ma file',
        );
        const long = await titleOf([user('word '.repeat(10_000))]);
        expect(long.length).toBeLessThanOrEqual(80);
        expect(long.endsWith('word…')).toBe(true);
        expect((await titleOf([user('\ud800 half')])).isWellFormed()).toBe(true);
        expect([...(await titleOf([user('😀'.repeat(500))]))]).toHaveLength(80);
      }));

    test('of two saves that build on one state the second is stale and changes nothing (R277)', () =>
      withStore(async (store, projectId) => {
        const at = (revision: number, ...texts: string[]): Promise<SaveOutcome> =>
          attempt(store, projectId, 'a', { history: texts.map(user), revision });
        const first = await at(0, 'one');
        expect(await at(0, 'another beginning')).toEqual({ kind: 'stale' });
        if (first.kind !== 'saved') throw new Error('the first save was stale');
        const second = await at(first.revision, 'one', 'two');
        const stored = await store.load(`${projectId}-a`);
        await later();
        expect(await at(first.revision, 'one', 'lost')).toEqual({ kind: 'stale' });
        expect(await at(first.revision + 7, 'one', 'lost')).toEqual({ kind: 'stale' });
        expect(await store.load(`${projectId}-a`)).toEqual(stored);
        expect(stored?.history).toEqual([user('one'), user('two')]);
        // The answer to a save matches what is read afterwards.
        expect(second).toEqual({ kind: 'saved', revision: stored?.revision });
        expect((await store.list({ projectId, limit: 1 }))[0]?.revision).toBe(stored?.revision);
        expect(await at(stored?.revision ?? 0, 'one')).toMatchObject({ kind: 'saved' });
      }));

    test('a save that builds on a state of a conversation that is not there is stale, as after a failover', () =>
      withStore(async (store, projectId) => {
        const history = [user('the second half')];
        expect(await attempt(store, projectId, 'a', { history, from: 1, revision: 1 })).toEqual({
          kind: 'stale',
        });
        expect(await store.load(`${projectId}-a`)).toBeNull();
      }));

    test('of many saves at once that build on one state exactly one is there, whole (R277)', () =>
      withStore(async (store, projectId) => {
        const histories = ['x', 'y', 'z'].map((text) =>
          Array.from({ length: 30 }, (_, index) => user(`${text} ${index}`)),
        );
        let revision = 0;
        for (let round = 0; round < 5; round++) {
          const outcomes = await Promise.all(
            histories.map((history) => attempt(store, projectId, 'a', { history, revision })),
          );
          const winners = outcomes.flatMap((outcome, index) =>
            outcome.kind === 'saved' ? [{ history: histories[index], ...outcome }] : [],
          );
          expect(winners).toHaveLength(1);
          const loaded = await store.load(`${projectId}-a`);
          expect(loaded?.history).toEqual(winners[0]?.history);
          expect(loaded?.revision).toBe(winners[0]?.revision);
          revision = loaded?.revision ?? 0;
        }
      }));

    test('what stands before the position that a save names stays, title and all (R277)', () =>
      withStore(async (store, projectId) => {
        await save(store, projectId, 'a', ['one', 'two', 'three', 'four'].map(user));
        const before = await store.load(`${projectId}-a`, { from: 2 });
        expect(before).toMatchObject({
          from: 2,
          messages: 4,
          history: [user('three'), user('four')],
        });
        const revision = before?.revision ?? 0;
        await attempt(store, projectId, 'a', {
          history: [user('three'), answer('5'), user('6')],
          from: 2,
          revision,
        });
        expect(await store.load(`${projectId}-a`)).toMatchObject({
          title: 'one',
          messages: 5,
          from: 0,
          history: [user('one'), user('two'), user('three'), answer('5'), user('6')],
        });
        expect(await store.load(`${projectId}-a`, { from: 9 })).toMatchObject({
          from: 5,
          history: [],
        });
      }));

    test('a history is read from its end, as much as fits', () =>
      withStore(async (store, projectId) => {
        const history = Array.from({ length: 9 }, (_, index) => user(`é${index}`.repeat(100)));
        await save(store, projectId, 'a', history);
        const bytes = Buffer.byteLength(JSON.stringify(history[0]));
        const read = async (maxBytes: number): Promise<readonly [number, number] | null> => {
          const loaded = await store.load(`${projectId}-a`, { maxBytes });
          expect(loaded?.history).toEqual(history.slice(loaded?.from));
          expect(loaded?.messages).toBe(9);
          return loaded === null ? null : [loaded.from, loaded.history.length];
        };
        expect(await read(3 * bytes)).toEqual([6, 3]);
        expect(await read(3 * bytes - 1)).toEqual([7, 2]);
        expect(await read(9 * bytes)).toEqual([0, 9]);
        expect(await read(0)).toEqual([9, 0]);
        expect(await store.load(`${projectId}-none`, { maxBytes: 10 })).toBeNull();
      }));

    test('a history is read backwards in pages, of one message at least', () =>
      withStore(async (store, projectId) => {
        const history = ['one', 'two', 'é'.repeat(1_000), 'four', 'five'].map(user);
        await save(store, projectId, 'a', history);
        const bytes = Buffer.byteLength(JSON.stringify(history[3]));
        const read = async (before: number, pageBytes: number) => {
          const loaded = await store.load(`${projectId}-a`, { before, pageBytes });
          const { from = -1, history: found = [] } = loaded ?? {};
          expect(found).toEqual(history.slice(from, from + found.length));
          return [from, found.length];
        };
        expect(await read(Number.MAX_SAFE_INTEGER, 2 * bytes)).toEqual([3, 2]);
        expect(await read(Number.MAX_SAFE_INTEGER, 2 * bytes - 1)).toEqual([4, 1]);
        expect(await read(3, bytes)).toEqual([2, 1]);
        expect(await read(2, 2 * bytes)).toEqual([0, 2]);
        expect(await read(2, 0)).toEqual([1, 1]);
        expect((await read(0, bytes))[1]).toBe(0);
      }));
  });
}

function user(content: string): Message {
  return { role: 'user', content };
}

function answer(content: string): Message {
  return { role: 'assistant', content };
}
