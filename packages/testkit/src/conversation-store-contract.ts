import type { Clock, ConversationStore, Message } from '@orion/contracts';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from './fake-clock.ts';

/**
 * What every store of conversations keeps.
 *
 * 1. What is loaded is the history of the last save, message by message, whatever the text in it (R253).
 * 2. A save is whole: of two at once one is there, never a mixture.
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
    const withStore = async (
      use: (
        store: ConversationStore,
        projectId: string,
        clock: ReturnType<typeof createFakeClock>,
      ) => Promise<void>,
    ): Promise<void> => {
      projects += 1;
      // Later with each test: stores may share a database, and the newest of all is asked for.
      const clock = createFakeClock(projects * 1_000_000);
      const opened = await factory({ clock });
      try {
        await use(opened.conversations, `project-${projects}`, clock);
      } finally {
        await opened.close();
      }
    };
    const save = (
      store: ConversationStore,
      projectId: string,
      conversationId: string,
      history: readonly Message[],
      openSessionId: string | null = null,
    ): Promise<void> =>
      store.save({
        conversationId: `${projectId}-${conversationId}`,
        projectId,
        history,
        openSessionId,
      });

    test('what was saved is loaded, whatever the text in it (B24)', () =>
      withStore(async (store, projectId, clock) => {
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
          createdAt: clock.now(),
          updatedAt: clock.now(),
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

    test('a save keeps when a conversation began, and moves when it was last changed', () =>
      withStore(async (store, projectId, clock) => {
        await save(store, projectId, 'a', [user('one')]);
        await clock.advance(10);
        await save(store, projectId, 'a', [user('one'), answer('two')]);
        const loaded = await store.load(`${projectId}-a`);
        expect([loaded?.createdAt, loaded?.updatedAt]).toEqual([clock.now() - 10, clock.now()]);
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
      withStore(async (store, projectId, clock) => {
        for (const id of ['a', 'b', 'c']) {
          await save(store, projectId, id, [user(`hello ${id}`)]);
          await clock.advance(1);
        }
        await save(store, `${projectId}-other`, 'd', [user('hello d')]);
        await clock.advance(1);
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
          createdAt: clock.now() - 4,
          updatedAt: clock.now(),
          openSessionId: null,
        });
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

    test('of two saves at once one is there, whole', () =>
      withStore(async (store, projectId) => {
        const histories = ['x', 'y', 'z'].map((text) =>
          Array.from({ length: 30 }, (_, index) => user(`${text} ${index}`)),
        );
        for (let round = 0; round < 5; round++) {
          await Promise.all(histories.map((history) => save(store, projectId, 'a', history)));
          expect(histories).toContainEqual((await store.load(`${projectId}-a`))?.history);
        }
      }));
  });
}

function user(content: string): Message {
  return { role: 'user', content };
}

function answer(content: string): Message {
  return { role: 'assistant', content };
}
