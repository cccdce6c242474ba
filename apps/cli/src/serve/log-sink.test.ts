import { expect, it } from 'vitest';

import { createLogSink } from './log-sink.ts';

function reader() {
  const written: string[] = [];
  const waits: (() => void)[] = [];
  let isReading = true;
  return {
    written,
    stop: () => void (isReading = false),
    async goOn() {
      isReading = true;
      for (const read of waits.splice(0)) read();
      await Promise.resolve();
    },
    offer(line: string) {
      written.push(line);
      if (isReading) return undefined;
      return new Promise<void>((resolve) => {
        waits.push(resolve);
      });
    },
  };
}

it('passes every line on while it is read', () => {
  const stderr = reader();
  const { write } = createLogSink(stderr);
  for (let line = 0; line < 5000; line += 1) write(`${'x'.repeat(1000)}\n`);
  expect(stderr.written).toHaveLength(5000);
});

it('leaves out what nobody reads, beyond a limit, and says how many lines', async () => {
  const stderr = reader();
  const { write } = createLogSink(stderr);
  stderr.stop();
  const line = `${'x'.repeat(1023)}\n`;
  for (let each = 0; each < 1024 + 7; each += 1) write(line);
  expect(stderr.written).toHaveLength(1024);
  await stderr.goOn();
  expect(stderr.written.at(-1)).toBe('{"level":40,"leftOut":7,"msg":"log left out"}\n');
  write('next\n');
  expect(stderr.written).toHaveLength(1026);
  stderr.stop();
  for (let each = 0; each < 2000; each += 1) write(line);
  expect(stderr.written).toHaveLength(1026 + 1024);
});
