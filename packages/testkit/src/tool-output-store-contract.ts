import { OrionError } from '@orion/contracts';
import type { ToolOutputFilter, ToolOutputRecord, ToolOutputStore } from '@orion/contracts';
import { describe, expect, test } from 'vitest';

/**
 * What every store of tool outputs keeps.
 *
 * 1. A record comes back as it was put, whatever the text in it (R205).
 * 2. An id outside the pattern is refused before anything is asked or stored (R205).
 * 3. A list is bounded, ordered by time, without texts, and says how many there are in all.
 * 4. An output that is too large is cut, and the record says so (R285).
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
        const parameters = { '\u0000': '\ud800', list: [1.5, null, [true]] };
        const first = record(conversationId, 1, { parameters, success: false });
        const read = async (): Promise<unknown[]> => {
          const found = await store.read(first.id);
          return [found?.parameters, found?.output].map(
            (text) => JSON.parse(text ?? '') as unknown,
          );
        };
        for (const output of [
          `a\u0000b \udc00 ${'x'.repeat(1_000_000)}`,
          '',
          null,
          0,
          false,
          [],
          {},
        ]) {
          await store.put({ ...first, output: JSON.stringify(output) });
          expect(await read()).toEqual([parameters, output]);
        }
        // It is stored as it is, whatever it is: who reads it says whether it can be read.
        await store.put({ ...first, output: '{"cut' });
        expect((await store.read(first.id))?.output).toBe('{"cut');
        expect(await store.read(`${conversationId}-none`)).toBeNull();
      }));

    test('what is known of an output is found without its text', () =>
      withStore(async (store, conversationId) => {
        const output = JSON.stringify({ text: `😀ä${'x'.repeat(600)}` });
        const one = record(conversationId, 1, { output });
        const known = {
          ...knownOf(one),
          bytes: Buffer.byteLength(output),
          characters: [...output].length,
          cut: false,
          preview: [...output].slice(0, 500).join(''),
        };
        expect(await store.put(one)).toEqual(known);
        expect(await store.find(one.id)).toEqual(known);
        expect((await store.list({ conversation_id: conversationId })).outputs).toEqual([known]);
        expect(await store.find(`${conversationId}-none`)).toBeNull();
      }));

    test(
      'an output of more than 16 MiB is cut to its beginning, as a text (R285)',
      { timeout: 60_000, tags: ['long'] },
      () =>
        withStore(async (store, conversationId) => {
          const most = 16 * 1024 * 1024;
          const fits = JSON.stringify('x'.repeat(most - 2));
          for (const [output, cut] of [
            [fits, false],
            [JSON.stringify(['x'.repeat(most)]), true],
            [JSON.stringify('ä"'.repeat(most / 2)), true],
          ] as const) {
            const put = await store.put(record(conversationId, 1, { output }));
            expect(put.cut).toBe(cut);
            expect(put.bytes).toBeLessThanOrEqual(most);
            expect(put.bytes).toBeGreaterThan(most * 0.8);
            const stored = (await store.read(put.id))?.output ?? '';
            expect(Buffer.byteLength(stored)).toBe(put.bytes);
            const whole = cut && output.startsWith('"') ? (JSON.parse(output) as string) : output;
            if (cut) expect(whole.startsWith(JSON.parse(stored) as string)).toBe(true);
          }
        }),
    );

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
          await expect(store.find(id)).rejects.toSatisfy(isInvalidId);
          await expect(store.read(id)).rejects.toSatisfy(isInvalidId);
          await expect(store.put({ ...record(conversationId, 1), id })).rejects.toSatisfy(
            isInvalidId,
          );
        }
        expect((await store.list({ conversation_id: conversationId })).total).toBe(0);
        const longest = `A-_9${conversationId}`.padEnd(128, 'x');
        await store.put({ ...record(conversationId, 1), id: longest });
        expect((await store.find(longest))?.id).toBe(longest);
      }));

    test('a put may be repeated', () =>
      withStore(async (store, conversationId) => {
        const one = record(conversationId, 1);
        await Promise.all([store.put(one), store.put(one), store.put(one)]);
        const listed = await store.list({ conversation_id: conversationId });
        expect(listed).toMatchObject({ outputs: [knownOf(one)], total: 1, damaged: 0 });
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
          const { outputs, total } = await store.list({
            conversation_id: conversationId,
            ...filter,
          });
          return [outputs.map((found) => found.created_at), total];
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
        expect(await list({ project_id: 'project', limit: 1 })).toEqual([[25], 25]);
        expect(await list({ project_id: 'other' })).toEqual([[], 0]);
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
          found.push(...page.outputs.map((one) => one.id));
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
    project_id: 'project',
    tool_name: 'read_file',
    conversation_id: conversationId,
    message_id: 'message-1',
    created_at: createdAt,
    success: true,
    parameters: {},
    output: '"output"',
    ...changes,
  };
}

function knownOf({ parameters: _, output: __, ...known }: ToolOutputRecord): object {
  return known;
}

function isInvalidId(error: unknown): boolean {
  return OrionError.isInstance(error) && error.code === 'INVALID_OUTPUT_ID';
}
