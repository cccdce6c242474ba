import { expect, test } from 'vitest';

import { contentMessages, contextLimit } from './content-messages.ts';

function handleOf(text: string): Parameters<typeof contentMessages>[0]['handle'] {
  const bytes = Buffer.from(text, 'utf8');
  return {
    bytes: () => bytes.length,
    async *readContent(start = 0, end = bytes.length) {
      yield bytes.subarray(start, end);
    },
  };
}

const base = [{ role: 'user', content: 'write it' }] as const;

test('R257: short content is shown whole, as the assistant’s own words', async () => {
  const messages = await contentMessages({
    base,
    handle: handleOf('one\ntwo\n'),
    prompt: 'go on',
    limit: 1000,
    lines: 2,
  });
  expect(messages).toEqual([
    base[0],
    { role: 'assistant', content: 'one\ntwo\n' },
    { role: 'user', content: 'go on' },
  ]);
});

test('R257: of long content the beginning and the end, and a person tells what is left out', async () => {
  const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index + 1} é`);
  const text = `${lines.join('\n')}\n`;
  const limit = 100 * 1024;
  const messages = await contentMessages({
    base,
    handle: handleOf(text),
    prompt: 'go on',
    limit,
    lines: 10_000,
  });
  const [, head, note, tail] = messages;
  const headLines = (head?.content ?? '').split('\n').slice(0, -1);
  const tailLines = (tail?.content ?? '').split('\n').slice(0, -1);
  expect(headLines).toEqual(lines.slice(0, headLines.length));
  expect(tailLines).toEqual(lines.slice(-tailLines.length));
  expect(note).toEqual({
    role: 'user',
    content: `Lines ${headLines.length + 1} to ${10_000 - tailLines.length} of the file are saved too; they are left out here.`,
  });
  const shown = Buffer.byteLength(head?.content ?? '') + Buffer.byteLength(tail?.content ?? '');
  expect(shown).toBeLessThanOrEqual(16 * 1024 + 64 * 1024);
  expect(shown).toBeGreaterThan(79 * 1024);
});

test('R257: nothing saved adds nothing', async () => {
  expect(
    await contentMessages({ base, handle: handleOf(''), prompt: null, limit: 1000, lines: 0 }),
  ).toEqual(base);
});

test('R257: the limit is a quarter of the context at three bytes a token, at most the setting', () => {
  const limits = { contextTokens: 16_384, outputTokens: null, prefill: false };
  const unset = { contextBytes: 128 * 1024, contextTokens: null };
  expect(contextLimit(unset, null)).toBe(6144);
  expect(contextLimit(unset, { limits })).toBe(12_288);
  expect(contextLimit({ ...unset, contextTokens: 8192 }, { limits })).toBe(6144);
  expect(contextLimit({ ...unset, contextTokens: 1_000_000 }, null)).toBe(128 * 1024);
});
