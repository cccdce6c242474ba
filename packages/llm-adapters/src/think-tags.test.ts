import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { DONE, STOP, chunk, content, merged, receive, sse } from './testing/streams.ts';
import { createThinkTags } from './think-tags.ts';

const text = (value: string) => ({ type: 'text-delta', text: value });
const reasoning = (value: string) => ({ type: 'reasoning-delta', text: value });

async function deltas(...contents: readonly string[]): Promise<object[]> {
  const events = merged(await receive(sse(...contents.map(content), STOP, DONE)));
  return events.slice(0, -1);
}

describe('reasoning inside the content', () => {
  test('is kept out of the text', async () => {
    expect(await deltas('<think>why\n</think>\n\nanswer')).toEqual([
      reasoning('why\n'),
      text('answer'),
    ]);
  });

  test('also when the tags are divided', async () => {
    expect(await deltas(' \n<th', 'ink>a </th', 'in', 'k b</thi', 'nk>', '\n', '\nanswer')).toEqual(
      [reasoning('a </think b'), text('answer')],
    );
  });

  test('counts only where it opens the message', async () => {
    expect(await deltas('x <think>', 'y</think>')).toEqual([text('x <think>y</think>')]);
    expect(await deltas('  <thinking>')).toEqual([text('  <thinking>')]);
    expect(await deltas('<think>a</think>b<think>c</think>')).toEqual([
      reasoning('a'),
      text('b<think>c</think>'),
    ]);
  });

  test('that never closes is all reasoning', async () => {
    expect(await deltas('<think>a</thin')).toEqual([reasoning('a</thin')]);
  });

  test('a message that ends before the tag is whole is text', async () => {
    expect(await deltas(' <thin')).toEqual([text(' <thin')]);
    expect(await deltas('\n\n')).toEqual([text('\n\n')]);
  });

  test('white space without an end is not held back', () => {
    const texts: number[] = [];
    const tags = createThinkTags({
      onText: (piece) => texts.push(piece.length),
      onReasoning: () => undefined,
    });
    for (let count = 0; count < 10; count += 1) tags.push(' '.repeat(10_000));
    expect(texts).toEqual([70_000, 10_000, 10_000, 10_000]);
    tags.push('<think>');
    expect(texts.at(-1)).toBe(7);
  });

  test('keeps the indentation of the first line', async () => {
    expect(await deltas('<think>a</think>\n\n  indented\n')).toEqual([
      reasoning('a'),
      text('  indented\n'),
    ]);
  });

  test('any split gives the same two texts', () => {
    const parts = fc.array(
      fc.constantFrom('<think>', '</think>', '<', 'th', '\n', ' ', 'a', '</', 'think>'),
    );
    fc.assert(
      fc.property(parts, fc.array(fc.nat(60)), (pieces, cuts) => {
        const message = pieces.join('');
        const ends = [
          ...cuts.filter((cut) => cut < message.length).toSorted((a, b) => a - b),
          message.length,
        ];
        const split = ends.map((end, index) => message.slice(ends[index - 1] ?? 0, end));
        expect(separate(split)).toEqual(separate([message]));
      }),
    );
  });
});

function separate(contents: readonly string[]): readonly [string, string] {
  let answer = '';
  let thoughts = '';
  const tags = createThinkTags({
    onText: (piece) => (answer += piece),
    onReasoning: (piece) => (thoughts += piece),
  });
  for (const piece of contents) tags.push(piece);
  tags.end();
  return [answer, thoughts];
}

test('reasoning in a field of its own', async () => {
  for (const field of ['reasoning_content', 'reasoning']) {
    const body = sse(
      chunk({ [field]: 'why ' }),
      chunk({ [field]: 'so', content: null }),
      content('a'),
      STOP,
      DONE,
    );
    expect(merged(await receive(body)).slice(0, 2)).toEqual([reasoning('why so'), text('a')]);
  }
});

test('the same reasoning in both fields counts once', async () => {
  const both = chunk({ reasoning_content: 'why', reasoning: 'why' });
  expect(merged(await receive(sse(both, content('a'), STOP, DONE)))[0]).toEqual(reasoning('why'));
});

test('content in parts', async () => {
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'why' }] },
    { type: 'text', text: 'a' },
  ];
  expect(merged(await receive(sse(chunk({ content: parts }), STOP, DONE))).slice(0, 2)).toEqual([
    reasoning('why'),
    text('a'),
  ]);
});

test('a refusal is text with its own finish reason', async () => {
  const events = merged(
    await receive(sse(chunk({ refusal: 'I ' }), chunk({ refusal: 'cannot.' }), STOP, DONE)),
  );
  expect(events).toEqual([text('I cannot.'), { type: 'finish', reason: 'refusal' }]);
});
