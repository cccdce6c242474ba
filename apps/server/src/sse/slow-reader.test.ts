// A reader that does not read costs little, and after half a minute nothing (B28).
import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { numbersOf, openStream } from '../testing/read-stream.ts';
import type { OpenStream } from '../testing/read-stream.ts';
import { done, startTurnServer, text } from '../testing/turn-server.ts';
import type { TurnWriter } from '../testing/turn-server.ts';

const path = '/api/turns/t/events';
const LINE = 'x'.repeat(50_000);

/** Far more than the buffers of a connection hold. */
async function writeMuch(turn: TurnWriter, megabytes: number): Promise<void> {
  for (let round = 0; round < megabytes * 2; round += 1) {
    await turn.write(...Array.from({ length: 10 }, () => text(LINE)));
  }
}

it('a reader that takes nothing is given little, and is left after 30 s', async () => {
  const clock = createFakeClock();
  const { port, begin, streams } = await startTurnServer({ clock });
  const turn = await begin('t');
  const stream = await openStream(port, path, { paused: true });
  const other = await openStream(port, path);
  await writeMuch(turn, 12);
  await other.reached(240);
  // What is written for it waits in the log: the process holds what fits into the buffer of a connection.
  expect(streams.buffered).toBeGreaterThan(0);
  expect(streams.buffered).toBeLessThan(512 * 1024);
  for (let beat = 0; beat < 5; beat += 1) await clock.advance(5_000);
  expect([streams.open, streams.stalled]).toEqual([2, 0]);
  await clock.advance(5_000);
  await clock.advance(5_000);
  await expect.poll(() => [streams.open, streams.stalled]).toEqual([1, 1]);
  stream.close();
  await turn.write(done());
  await other.ended;
  expect(other.messages).toHaveLength(241);
  expect(clock.pending()).toBe(0);
});

it('a reader that is slow gets everything, and is not left', async () => {
  const clock = createFakeClock();
  const { port, begin, streams } = await startTurnServer({ clock });
  const turn = await begin('t');
  const stream = await openStream(port, path);
  await writeMuch(turn, 6);
  for (let seconds = 0; seconds < 120; seconds += 5) {
    stream.response.pause();
    await clock.advance(5_000);
    stream.response.resume();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await turn.write(done());
  await stream.ended;
  expect(streams.stalled).toBe(0);
  expect(numbersOf(stream.messages)).toEqual(Array.from({ length: 121 }, (_, index) => index + 1));
});

it('a reader that comes late to a long turn gets it piece by piece', async () => {
  const { port, begin, streams } = await startTurnServer();
  const turn = await begin('t');
  await writeMuch(turn, 6);
  await turn.write(done());
  const stream = await openStream(port, path, { paused: true });
  await expect.poll(() => streams.buffered).toBeGreaterThan(0);
  expect(streams.buffered).toBeLessThan(512 * 1024);
  stream.resume();
  await stream.ended;
  expect(stream.messages).toHaveLength(121);
});

const MEGABYTE = 1024 * 1024;

/** Takes that much and pauses again. */
async function take({ response }: OpenStream, bytes: number): Promise<void> {
  let taken = 0;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      response.off('data', onData).off('close', end);
      resolve();
    };
    const onData = (chunk: string): void => {
      taken += chunk.length;
      if (taken < bytes) return;
      response.pause();
      end();
    };
    response.on('data', onData).on('close', end);
    response.resume();
  });
}

it(
  'a reader that takes one large event slowly gets it whole, and nothing in its middle',
  { tags: ['long'] },
  async () => {
    const clock = createFakeClock();
    const { port, begin, streams } = await startTurnServer({ clock });
    const turn = await begin('t');
    // Not all pieces end between two characters.
    const fullContent = `x${'\u{1f600}'.repeat(6 * MEGABYTE)}`;
    await turn.write(done(fullContent));
    const stream = await openStream(port, path, { paused: true });
    stream.resume();
    stream.response.pause();
    for (let seconds = 0; seconds < 60; seconds += 5) {
      await take(stream, MEGABYTE / 2);
      await clock.advance(5_000);
      expect(streams.buffered).toBeLessThan(512 * 1024);
    }
    stream.resume();
    await stream.ended;
    expect(streams.stalled).toBe(0);
    const [event] = stream.messages;
    expect(JSON.parse(event?.data ?? '{}')).toMatchObject({ type: 'done' });
    expect(event?.data.includes(fullContent)).toBe(true);
  },
);

it(
  'a server that stops leaves a large event unfinished, and no other text in it',
  { tags: ['long'] },
  async () => {
    const { port, begin, streams } = await startTurnServer();
    const turn = await begin('t');
    await turn.write(done(LINE.repeat(600)));
    const stream = await openStream(port, path, { paused: true });
    await expect.poll(() => streams.buffered).toBeGreaterThan(0);
    streams.end();
    stream.resume();
    await stream.ended;
    expect([stream.messages, stream.raw().endsWith('xxx')]).toEqual([[], true]);
  },
);
