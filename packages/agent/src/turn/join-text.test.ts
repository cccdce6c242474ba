import type { RunEventBody } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { joinText } from './join-text.ts';
import { Mailbox } from './mailbox.ts';

const chunk = (content: string, source: 'model' | 'notice' = 'model'): RunEventBody => ({
  type: 'chunk',
  content,
  source,
});
const content = (text: string, offset: number, sessionId = 's'): RunEventBody => ({
  type: 'write_chunk',
  sessionId,
  offset,
  length: text.length,
  content: text,
});
const phase: RunEventBody = { type: 'phase', phase: 'tool', index: 1 };

/** A turn whose events are sent by hand; `null` is its end. */
function fakeTurn() {
  const mailbox = new Mailbox<RunEventBody | null>();
  const clock = createFakeClock();
  const seen: RunEventBody[] = [];
  let left = 0;
  let cycle = 0;
  async function* events(): AsyncGenerator<RunEventBody, string> {
    for (;;) {
      const next = await mailbox.take();
      if (next === null) return 'the end';
      yield next;
    }
  }
  const joined = joinText(
    events(),
    clock,
    () => cycle,
    () => {
      left += 1;
      mailbox.push(null);
    },
  );
  const reading = (async () => {
    for (;;) {
      const next = await joined.next();
      if (next.done === true) return next.value;
      seen.push(next.value.event);
    }
  })();
  return {
    clock,
    seen,
    reading,
    joined,
    left: () => left,
    nextCycle: () => (cycle += 1),
    async send(...sent: (RunEventBody | null)[]) {
      for (const event of sent) {
        mailbox.push(event);
        await clock.advance(0);
      }
    },
  };
}

describe('joining text', () => {
  it('passes on the first text at once and joins what follows within 100 ms', async () => {
    const turn = fakeTurn();
    await turn.send(content('a', 0), content('b', 1), content('c', 2));
    expect(turn.seen).toEqual([content('a', 0)]);
    await turn.clock.advance(99);
    expect(turn.seen).toHaveLength(1);
    await turn.clock.advance(1);
    expect(turn.seen).toEqual([content('a', 0), content('bc', 1)]);
  });

  it('holds text for a person no longer than 30 ms', async () => {
    const turn = fakeTurn();
    await turn.send(chunk('a'), chunk('b'), chunk('c'));
    await turn.clock.advance(30);
    expect(turn.seen).toEqual([chunk('a'), chunk('bc')]);
  });

  it('passes on fifty lines without waiting', async () => {
    const turn = fakeTurn();
    await turn.send(content('a', 0), content('\n'.repeat(49), 1));
    expect(turn.seen).toHaveLength(1);
    await turn.send(content('\n', 50));
    expect(turn.seen).toEqual([content('a', 0), content('\n'.repeat(50), 1)]);
  });

  it('passes on 64 Ki characters of one line without waiting', async () => {
    const turn = fakeTurn();
    await turn.send(content('a', 0), content('x'.repeat(64 * 1024), 1));
    expect(turn.seen).toHaveLength(2);
  });

  it.each<[string, RunEventBody, RunEventBody]>([
    ['another event', chunk('b'), phase],
    ['a notice', chunk('b'), chunk('c', 'notice')],
    ['content after chat', chunk('b'), content('c', 0)],
    ['content of another session', content('b', 0), content('c', 1, 'other')],
    ['content of another place', content('b', 0), content('c', 7)],
  ])('keeps text and %s apart, in their order', async (_, one, other) => {
    const turn = fakeTurn();
    await turn.send(chunk('a'), one, other, null);
    await turn.reading;
    expect(turn.seen).toEqual([chunk('a'), one, other]);
  });

  it('passes on what is held before the end, and the end itself', async () => {
    const turn = fakeTurn();
    await turn.send(chunk('a'), chunk('b'), null);
    expect(await turn.reading).toBe('the end');
    expect(turn.seen).toEqual([chunk('a'), chunk('b')]);
    expect(turn.left()).toBe(0);
    expect(turn.clock.pending()).toBe(0);
  });

  it('passes on what is held before an error', async () => {
    async function* failing(): AsyncGenerator<RunEventBody, string> {
      yield chunk('a');
      yield chunk('b');
      throw new Error('broken');
    }
    const seen: RunEventBody[] = [];
    const joined = joinText(
      failing(),
      createFakeClock(),
      () => 0,
      () => undefined,
    );
    await expect(
      (async () => {
        for await (const { event } of joined) seen.push(event);
      })(),
    ).rejects.toThrow('broken');
    expect(seen).toEqual([chunk('a'), chunk('b')]);
  });

  it('says in which cycle held text arrived', async () => {
    const clock = createFakeClock();
    let cycle = 1;
    async function* turn(): AsyncGenerator<RunEventBody, null> {
      yield chunk('a');
      yield chunk('b');
      cycle = 2;
      yield phase;
      return null;
    }
    const cycles: number[] = [];
    for await (const { cycleIndex } of joinText(
      turn(),
      clock,
      () => cycle,
      () => undefined,
    )) {
      cycles.push(cycleIndex);
    }
    expect(cycles).toEqual([1, 1, 2]);
  });

  it('aborts an event that is under way when the reader goes away', async () => {
    const mailbox = new Mailbox<RunEventBody | null>();
    const clock = createFakeClock();
    let left = 0;
    async function* stalled(): AsyncGenerator<RunEventBody, null> {
      for (;;) {
        const next = await mailbox.take();
        if (next === null) return null;
        yield next;
      }
    }
    const joined = joinText(
      stalled(),
      clock,
      () => 0,
      () => {
        left += 1;
        mailbox.push(null);
      },
    );
    mailbox.push(chunk('a'));
    mailbox.push(chunk('b'));
    await joined.next();
    const second = joined.next();
    await clock.advance(30);
    expect((await second).value).toMatchObject({ event: chunk('b') });
    // Nothing has arrived since, and nothing will.
    await joined.return(null);
    expect(left).toBe(1);
  });
});
