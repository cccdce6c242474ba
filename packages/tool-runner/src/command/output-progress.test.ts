import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { reportOutput } from './output-progress.ts';

function start(command = 'npm test') {
  const clock = createFakeClock();
  const messages: string[] = [];
  const progress = reportOutput(command, clock, ({ message }) => messages.push(message));
  return {
    clock,
    messages,
    print: (text: string | Uint8Array) => progress.push(Buffer.from(text)),
    end: () => progress.end(),
  };
}

it('reports the time each second, and the command until it has printed a line', async () => {
  const { clock, messages, print, end } = start();
  await clock.advance(999);
  expect(messages).toEqual([]);
  await clock.advance(2_001);
  print('not a whole line');
  await clock.advance(1_000);
  print('\n');
  await clock.advance(1_000);
  end();
  await clock.advance(60_000);
  expect(messages).toEqual([
    '1 s: npm test',
    '2 s: npm test',
    '3 s: npm test',
    '4 s, 16 B: npm test',
    '5 s, 17 B: not a whole line',
  ]);
  expect(clock.pending()).toBe(0);
});

it.each([
  ['one\ntwo\n', 'two'],
  ['one\ntwo', 'one'],
  ['one\n \n\n\t\n', 'one'],
  ['10 %\r20 %\r30', '20 %'],
  ['one\r\ntwo\r\n', 'two'],
  ['  indented\n', '  indented'],
  ['caf\u00e9 \ud83d\ude00\n', 'caf\u00e9 \ud83d\ude00'],
  ['\n', 'npm test'],
])('of %j it shows %j, however it is divided', async (text, line) => {
  const bytes = Buffer.from(text);
  for (const size of [1, 3, bytes.length]) {
    const { clock, messages, print } = start();
    for (let at = 0; at < bytes.length; at += size) print(bytes.subarray(at, at + size));
    await clock.advance(1_000);
    expect(messages).toEqual([`1 s, ${bytes.length} B: ${line}`]);
  }
});

it('shows no line whose beginning it no longer has: a part of a key could not be redacted', async () => {
  const { clock, messages, print } = start();
  print('k'.repeat(4_096));
  print('\n');
  await clock.advance(1_000);
  print('short\n');
  await clock.advance(1_000);
  expect(messages).toEqual(['1 s, 4.0 KiB: npm test', '2 s, 4.0 KiB: short']);
  const whole = start();
  whole.print(`${'k'.repeat(4_095)}\n`);
  await whole.clock.advance(1_000);
  expect(whole.messages).toEqual([`1 s, 4.0 KiB: ${'k'.repeat(4_095)}`]);
});

it('reports a flood as seldom as a silence', async () => {
  const { clock, messages, print } = start();
  const chunk = 'y\n'.repeat(32 * 1024);
  for (let count = 0; count < 1_000; count += 1) {
    print(chunk);
    await clock.advance(10);
  }
  expect(messages).toHaveLength(10);
  expect(messages.at(-1)).toBe('10 s, 62.5 MiB: y');
});
