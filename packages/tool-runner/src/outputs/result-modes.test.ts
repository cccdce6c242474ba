import { createFakeClock, toolCall } from '@orion/testkit';
import type { JsonValue, Tool } from '@orion/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createToolRegistry } from '../registry/tool-registry.ts';
import { CONTEXT } from '../testing/context.ts';
import { createMemoryOutputs } from '../testing/memory-outputs.ts';

/** R202, R280: for sizes around each border, whatever the text is made of. */

type Limits = { readonly autoCharacters?: number; readonly inlineCharacters?: number };

/** Whether a result is stored; what the model reads then, or the result itself. */
async function stores(result: JsonValue, more: Partial<Tool>, limits: Limits): Promise<boolean> {
  const store = createMemoryOutputs();
  const tool: Tool = {
    definition: { name: 't', description: '', parameters: { type: 'object' } },
    effect: 'read',
    execute: () => Promise.resolve({ result }),
    ...more,
  };
  const registry = createToolRegistry([tool], {
    outputs: { store, idOf: () => 'id', now: () => 1, ...limits },
    clock: createFakeClock(),
  });
  const [given] = await registry.executeToolCalls([toolCall('1', 't', {})], CONTEXT);
  const text = JSON.stringify(result);
  if (store.records.size === 0) {
    expect(given).toMatchObject({ success: true, result });
    return false;
  }
  expect(store.records.get('id')?.output).toBe(text);
  expect(given).toMatchObject({
    success: true,
    result: {
      persisted: true,
      size_chars: [...text].length,
      preview: [...text].slice(0, 1_200).join(''),
      preview_truncated: [...text].length > 1_200,
    },
  });
  return true;
}

/** A text whose JSON has so many code points, of characters that are longer in UTF-16, in UTF-8 or as JSON. */
function textOf(characters: number, kinds: readonly string[]): string {
  let text = '';
  let left = characters - 2;
  for (let at = 0; left > 0; at += 1) {
    const kind = kinds[at % kinds.length] ?? 'x';
    const length = [...JSON.stringify(kind)].length - 2;
    text += length <= left ? kind : 'x';
    left -= length <= left ? length : 1;
  }
  return text;
}

const kinds = fc.array(fc.constantFrom('x', 'ä', '😀', '"', '\n', '\u0001', '\ud800'), {
  minLength: 1,
  maxLength: 5,
});
const offset = fc.integer({ min: -3, max: 3 });
const MODES: readonly (readonly [string, Partial<Tool>, Limits, limit: number])[] = [
  ['no mode', {}, {}, 4_096],
  ['auto', { resultMode: 'auto' }, {}, 4_096],
  ['auto, set', { resultMode: 'auto' }, { autoCharacters: 1_500, inlineCharacters: 9 }, 1_500],
  ['auto ignores a cap', { resultMode: 'auto', inlineCharacters: 9_000 }, {}, 4_096],
  ['inline', { resultMode: 'inline' }, {}, 16_384],
  ['inline, set', { resultMode: 'inline' }, { autoCharacters: 9, inlineCharacters: 700 }, 700],
  [
    'inline, its own cap',
    { resultMode: 'inline', inlineCharacters: 20_000 },
    { inlineCharacters: 700 },
    20_000,
  ],
];

test.for(MODES)('%s: the border is exact', async ([, tool, limits, limit]) => {
  await fc.assert(
    fc.asyncProperty(kinds, offset, async (some, over) => {
      const text = textOf(limit + over, some);
      expect([...JSON.stringify(text)]).toHaveLength(limit + over);
      expect(await stores(text, tool, limits)).toBe(over > 0);
    }),
    { numRuns: 40 },
  );
});

test('stored keeps everything, never nothing', async () => {
  for (const result of [null, '', 0, [], {}, 'x'.repeat(200_000)]) {
    expect(await stores(result, { resultMode: 'stored' }, {})).toBe(true);
    expect(await stores(result, { resultMode: 'never' }, { autoCharacters: 0 })).toBe(false);
  }
});
