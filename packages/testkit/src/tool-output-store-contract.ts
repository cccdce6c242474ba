import { OrionError } from '@orion/contracts';
import type { ToolOutputFilter, ToolOutputRecord, ToolOutputStore } from '@orion/contracts';
import { describe, expect, test } from 'vitest';

/**
 * What every store of tool outputs keeps.
 *
 * 1. A record comes back as it was put, whatever the text in it (R205).
 * 2. An id outside the pattern is refused before anything is asked or stored (R205).
 * 3. A list is bounded, ordered by time, and says how many there are in all.
 */
export function describeToolOutputStoreContract(
  name: string,
  factory: () => Promise<{ readonly toolOutputs: ToolOutputStore; close(): Promise<void> }>,
): void {
  describe(`tool output store contract: ${name}`, () => {
    let conversations = 0;
    const withStore = async (
      use: (store: ToolOutputStore, conversationId: string) => Promise<void>,
    ): Promise<void> => {
      const opened = await factory();
      try {
        conversations += 1;
        await use(opened.toolOutputs, `conversation-${conversations}`);
      } finally {
        await opened.close();
      }
    };

    test('a record comes back as it was put, whatever the text in it (B24)', () =>
      withStore(async (store, conversationId) => {
        const first = record(conversationId, 1, {
          parameters: { '\u0000': '\ud800', list: [1.5, null, [true]] },
          output: `a\u0000b \udc00 ${'x'.repeat(1_000_000)}`,
          success: false,
        });
        await store.put(first);
        expect(await store.get(first.id)).toEqual(first);
        for (const output of ['', null, 0, false, [], {}, '{"a":1}']) {
          await store.put({ ...first, output });
          expect((await store.get(first.id))?.output).toEqual(output);
        }
        expect(await store.get(`${conversationId}-none`)).toBeNull();
      }));

    test('an id is letters, digits, _ and -, at most 128 (R205)', () =>
      withStore(async (store, conversationId) => {
        const refused = [
          '',
          '..',
          'a/b',
          'a\\b',
          'a.b',
          'ä',
          'a b',
          'a\u0000',
          'a\n',
          'x'.repeat(129),
        ];
        for (const id of refused) {
          await expect(store.get(id)).rejects.toSatisfy(isInvalidId);
          await expect(store.put({ ...record(conversationId, 1), id })).rejects.toSatisfy(
            isInvalidId,
          );
        }
        expect((await store.list({ conversation_id: conversationId })).total).toBe(0);
        const longest = `A-_9${conversationId}`.padEnd(128, 'x');
        await store.put({ ...record(conversationId, 1), id: longest });
        expect((await store.get(longest))?.id).toBe(longest);
      }));

    test('a put may be repeated', () =>
      withStore(async (store, conversationId) => {
        const one = record(conversationId, 1);
        await Promise.all([store.put(one), store.put(one), store.put(one)]);
        const listed = await store.list({ conversation_id: conversationId });
        expect(listed).toEqual({ records: [one], total: 1, damaged: 0 });
      }));

    test('a list is filtered, ordered and cut', () =>
      withStore(async (store, conversationId) => {
        for (let number = 1; number <= 25; number++) {
          await store.put(
            record(conversationId, number, {
              tool_name: number % 2 === 0 ? 'even' : 'odd',
              success: number % 5 !== 0,
            }),
          );
        }
        const list = async (filter: ToolOutputFilter): Promise<[number[], number]> => {
          const { records, total } = await store.list({
            conversation_id: conversationId,
            ...filter,
          });
          return [records.map((found) => found.created_at), total];
        };
        const down = (from: number, to: number): number[] =>
          Array.from({ length: from - to + 1 }, (_, index) => from - index);
        expect(await list({})).toEqual([down(25, 6), 25]);
        expect(await list({ order: 'oldest', limit: 3 })).toEqual([[1, 2, 3], 25]);
        expect(await list({ order: 'newest', limit: 3, offset: 20 })).toEqual([[5, 4, 3], 25]);
        expect(await list({ limit: 100, offset: 24 })).toEqual([[1], 25]);
        expect(await list({ offset: 30 })).toEqual([[], 25]);
        expect(await list({ success: false })).toEqual([[25, 20, 15, 10, 5], 5]);
        expect(await list({ tool_name: 'even', after: 4, before: 10 })).toEqual([[8, 6], 2]);
        expect(await list({ tool_name: 'none' })).toEqual([[], 0]);
        // Out of bounds is brought into them: a model asks.
        expect((await list({ limit: 1_000_000 }))[0]).toHaveLength(25);
        expect((await list({ limit: -1, offset: -1 }))[0]).toEqual([25]);
      }));

    test('records of one moment are all listed, page by page', () =>
      withStore(async (store, conversationId) => {
        const ids = ['a', 'b', 'c', 'd', 'e'].map((letter) => `${conversationId}-${letter}`);
        for (const id of ids) await store.put({ ...record(conversationId, 7), id });
        const found: string[] = [];
        for (let offset = 0; offset < 5; offset += 2) {
          const page = await store.list({ conversation_id: conversationId, limit: 2, offset });
          found.push(...page.records.map((one) => one.id));
        }
        expect(found.sort()).toEqual(ids);
      }));
  });
}

function record(
  conversationId: string,
  createdAt: number,
  changes: Partial<ToolOutputRecord> = {},
): ToolOutputRecord {
  return {
    id: `${conversationId}-${createdAt}`,
    tool_name: 'read_file',
    conversation_id: conversationId,
    message_id: 'message-1',
    created_at: createdAt,
    success: true,
    parameters: {},
    output: 'output',
    ...changes,
  };
}

function isInvalidId(error: unknown): boolean {
  return OrionError.isInstance(error) && error.code === 'INVALID_OUTPUT_ID';
}
