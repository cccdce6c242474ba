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

/** What a model is shown of `text`, whose lines `lines` counts with an open last one, as the session does. */
async function shown(text: string, limit: number) {
  const open = text === '' || text.endsWith('\n') ? 0 : 1;
  const messages = await contentMessages({
    base: [],
    handle: handleOf(text),
    prompt: null,
    limit,
    lines: text.split('\n').length - 1 + open,
  });
  const [head, note, tail] = messages.map(({ content }) => content ?? '');
  return { head: head ?? '', note: note ?? '', tail: tail ?? '' };
}

test('R257: an open last line that is shown is not called left out', async () => {
  const lines = Array.from({ length: 1000 }, (_, index) => `line ${index + 1}`);
  const { head, note, tail } = await shown(`${lines.join('\n')}\nopen`, 4096);
  const first = head.split('\n').length;
  const last = 1001 - tail.split('\n').length;
  expect(tail.endsWith('line 1000\nopen')).toBe(true);
  expect(note).toBe(`Lines ${first} to ${last} of the file are saved too; they are left out here.`);
  expect(`${head}${lines.slice(first - 1, last).join('\n')}\n${tail}`).toBe(
    `${lines.join('\n')}\nopen`,
  );
});

test('R257: where one line is longer than what is shown, it is cut between characters, and the note says so', async () => {
  for (const character of ['é', '€', '😀']) {
    for (const offset of [0, 1, 2, 3]) {
      const text = `${'x'.repeat(offset)}${character.repeat(5000)}`;
      const { head, note, tail } = await shown(text, 4096);
      expect(head + tail).not.toContain('\uFFFD');
      expect([text.startsWith(head), text.endsWith(tail)]).toEqual([true, true]);
      expect(note).toBe('A part of line 1 of the file is saved too; it is left out here.');
    }
  }
});

test('R257: lines and parts of lines that are left out are named', async () => {
  const lines = (count: number): string => 'a line of the file\n'.repeat(count);
  const wide = 'w'.repeat(20_000);
  const cases: readonly [string, string][] = [
    [`${lines(2)}${wide}\n${lines(2)}`, 'Line 3 of the file is saved too; it is left out here.'],
    [
      `${wide}\n${lines(500)}`,
      'The rest of line 1 and lines 2 to LAST of the file are saved too; they are left out here.',
    ],
    [
      `${lines(500)}${wide}`,
      'Lines FIRST to 500 and the beginning of line 501 of the file are saved too; they are left out here.',
    ],
    [
      `${wide}\n${lines(5)}${wide}\n`,
      'The rest of line 1, lines 2 to 6 and the beginning of line 7 of the file are saved too; they are left out here.',
    ],
    [
      `${wide}\n${wide}\n`,
      'The rest of line 1 and the beginning of line 2 of the file are saved too; they are left out here.',
    ],
  ];
  for (const [text, told] of cases) {
    const { head, note, tail } = await shown(text, 4096);
    const count = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
    const tailLines = tail.split('\n').length - (tail.endsWith('\n') ? 1 : 0);
    expect(note).toBe(
      told
        .replace('FIRST', String(head.split('\n').length))
        .replace('LAST', String(count - tailLines)),
    );
    expect([text.startsWith(head), text.endsWith(tail)]).toEqual([true, true]);
  }
});

test('R257: a single line that is left out is one line', async () => {
  const text = `${'h'.repeat(799)}\n${'x'.repeat(3000)}\n${'t'.repeat(3000)}\n`;
  const { note } = await shown(text, 4096);
  expect(note).toBe('Line 2 of the file is saved too; it is left out here.');
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
