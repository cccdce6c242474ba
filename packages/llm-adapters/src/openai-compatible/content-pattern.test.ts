import fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  DONE,
  STOP,
  USAGE,
  chunk,
  content,
  errorOf,
  merged,
  receive,
  sse,
  textOf,
} from '../testing/streams.ts';
import { ContentPattern } from './content-pattern.ts';

const learned = (example: object): ContentPattern => {
  const pattern = new ContentPattern();
  pattern.learn(JSON.stringify(example), example as Record<string, unknown>);
  return pattern;
};

test('an event that differs only in its text is read as JSON.parse would', () => {
  const pattern = learned(content('first'));
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(pattern.read(JSON.stringify(content(text)))).toBe(text);
    }),
  );
  expect(pattern.read(JSON.stringify(content('x')).replace('"x"', '"\\u0078\\ud83c"'))).toBe(
    'x\ud83c',
  );
});

test.for([
  ['another finish reason', JSON.stringify(chunk({ content: 'x' }, 'stop'))],
  ['usage', JSON.stringify(chunk({ content: 'x' }, null, { usage: {} }))],
  ['another choice', JSON.stringify(content('x')).replace('"index":0', '"index":1')],
  ['a second field inside', JSON.stringify(content('x')).replace('"x"', '"x","content":"y"')],
  ['no text', JSON.stringify(content('x')).replace('"x"', 'null')],
  ['an object', JSON.stringify(content('x')).replace('"x"', '{"a":"x"}')],
  ['a broken text', JSON.stringify(content('x')).replace('"x"', '"x')],
  ['a bare control character', JSON.stringify(content('x')).replace('"x"', '"\t"')],
  ['nothing', ''],
  ['a part of it', JSON.stringify(content('')).slice(0, -3)],
] as const)('an event with %s is left to the ordinary way', ([, data]) => {
  expect(learned(content('first')).read(data)).toBeUndefined();
});

test.for([
  ['whose text also stands elsewhere', chunk({ content: 'm' })],
  ['with reasoning', chunk({ content: 'x', reasoning: 'y' })],
  ['with a call', chunk({ content: 'x', tool_calls: [{ index: 0 }] })],
  ['with usage', chunk({ content: 'x' }, null, { usage: { prompt_tokens: 1 } })],
  ['with an end', chunk({ content: 'x' }, 'stop')],
  ['of another choice', { choices: [{ index: 1, delta: { content: 'x' } }] }],
  ['of two choices', { choices: [{ delta: { content: 'x' } }, { delta: {} }] }],
  ['without text', chunk({})],
] as const)('an event %s is no example', ([, example]) => {
  expect(learned(example).read(JSON.stringify(example))).toBeUndefined();
});

test('a value that only looks like the text is not taken for it', () => {
  const data = '{"model":"a","choices":[{"delta":{"content":"\\u0061"}}]}';
  const pattern = new ContentPattern();
  pattern.learn(data, JSON.parse(data) as Record<string, unknown>);
  expect(pattern.read(data.replace('"a"', '"b"'))).toBeUndefined();
});

test('events that change all the time, or once, give the same text', async () => {
  const changing = Array.from({ length: 100 }, (_, index) => ({
    ...content(`${index} `),
    id: `c${index}`,
  }));
  const text = Array.from({ length: 100 }, (_, index) => `${index} `).join('');
  expect(textOf(await receive(sse(...changing, STOP, DONE)))).toBe(text);
  const events = await receive(
    sse(
      content('a'),
      content('b'),
      { ...content('c'), created: 2 },
      content('d'),
      STOP,
      USAGE,
      DONE,
    ),
  );
  expect(merged(events)[0]).toEqual({ type: 'text-delta', text: 'abcd' });
});

test('a broken event among equal ones is still an error', async () => {
  const broken = JSON.stringify(content('x')).replace('"x"', '"x');
  const events = await receive(sse(content('a'), content('b'), broken, STOP, DONE));
  expect(textOf(events)).toBe('ab');
  expect(errorOf(events).code).toBe('STREAM_INVALID');
});
