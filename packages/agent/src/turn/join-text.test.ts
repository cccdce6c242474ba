import type { RunEventBody } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { joinText, ownPace } from './join-text.ts';
import { Mailbox } from './mailbox.ts';
import type { TurnStep } from './turn-step.ts';

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
  const seen: TurnStep[] = [];
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
    { clock, pace: ownPace(clock) },
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
    const seen: TurnStep[] = [];
    const clock = createFakeClock();
    const joined = joinText(
      failing(),
      { clock, pace: ownPace(clock) },
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
      { clock, pace: ownPace(clock) },
      () => cycle,
      () => undefined,
    )) {
      cycles.push(cycleIndex);
    }
    expect(cycles).toEqual([1, 1, 2]);
  });

  /** Text is due, and the next event is asked for, when the test says so. */
  function pacedTurn(...said: RunEventBody[]) {
    const clock = createFakeClock();
    const asked: string[] = [];
    const seen: TurnStep[] = [];
    let isNow = true;
    let waiting: (() => void)[] = [];
    const wait = (due: () => void): (() => void) => {
      waiting.push(due);
      return () => (waiting = waiting.filter((each) => each !== due));
    };
    async function* model(): AsyncGenerator<RunEventBody, string> {
      for (const event of said) {
        asked.push(
          event.type === 'chunk' || event.type === 'write_chunk'
            ? (event.content ?? '')
            : event.type,
        );
        yield event;
      }
      return 'the end';
    }
    const joined = joinText(
      model(),
      { clock, pace: { hold: (_kind, _at, due) => (isNow ? null : wait(due)), ask: wait } },
      () => 0,
      () => undefined,
    );
    const reading = (async () => {
      for (;;) {
        const next = await joined.next();
        if (next.done === true) return next.value;
        seen.push(next.value.event);
      }
    })();
    return {
      asked,
      seen,
      reading,
      joined,
      waiting: () => waiting.length,
      settle: () => clock.advance(0),
      hold: () => (isNow = false),
      passOn: () => (isNow = true),
      async due() {
        for (const each of waiting.splice(0)) each();
        await clock.advance(0);
      },
    };
  }

  it('goes on with chat that was passed on at once when it is asked for', async () => {
    const turn = pacedTurn(chunk('a'), chunk('b'), phase);
    await turn.settle();
    expect([turn.asked, turn.seen]).toEqual([['a'], [chunk('a')]]);
    await turn.due();
    expect([turn.asked, turn.seen]).toEqual([
      ['a', 'b'],
      [chunk('a'), chunk('b')],
    ]);
    await turn.due();
    expect(await turn.reading).toBe('the end');
    expect(turn.seen).toEqual([chunk('a'), chunk('b'), phase]);
    expect(turn.waiting()).toBe(0);
  });

  it('asks for nothing while it holds chat, and at once when that is passed on', async () => {
    const turn = pacedTurn(chunk('a'), chunk('b'), chunk('c'));
    turn.hold();
    await turn.settle();
    expect([turn.asked, turn.seen]).toEqual([['a'], []]);
    turn.passOn();
    await turn.due();
    // What has gathered meanwhile comes right behind it.
    expect([turn.asked, turn.seen]).toEqual([
      ['a', 'b'],
      [chunk('a'), chunk('b')],
    ]);
  });

  it('asks for content of a file in any case, and for what follows much text', async () => {
    const turn = pacedTurn(content('a', 0), content('b', 1), chunk('x'.repeat(64 * 1024)), phase);
    turn.hold();
    expect(await turn.reading).toBe('the end');
    expect(turn.seen).toEqual([content('ab', 0), chunk('x'.repeat(64 * 1024)), phase]);
    expect(turn.waiting()).toBe(0);
  });

  it('goes on with content that was passed on at once, and passes much text on once', async () => {
    const much = chunk('x'.repeat(64 * 1024));
    const turn = pacedTurn(content('a', 0), content('b', 1), much, phase);
    expect(await turn.reading).toBe('the end');
    expect(turn.seen).toEqual([content('a', 0), content('b', 1), much, phase]);
    expect(turn.waiting()).toBe(0);
  });

  it('leaves nothing behind when its reader goes away with an aside', async () => {
    let waiting = 0;
    let aside: (event: RunEventBody) => void = () => undefined;
    async function* model(): AsyncGenerator<RunEventBody, null> {
      yield chunk('a');
      yield chunk('b');
      return null;
    }
    const ask = (): (() => void) => {
      waiting += 1;
      return () => (waiting -= 1);
    };
    const joined = joinText(
      model(),
      { clock: createFakeClock(), pace: { hold: () => null, ask } },
      () => 0,
      () => undefined,
      { listen: (take) => (aside = take) },
    );
    expect((await joined.next()).value).toMatchObject({ event: chunk('a') });
    const second = joined.next();
    aside(phase);
    expect((await second).value).toMatchObject({ event: phase });
    expect(waiting).toBe(1);
    await joined.return(null);
    expect(waiting).toBe(0);
  });

  it('leaves nothing behind when its reader goes away while text gathers', async () => {
    const turn = pacedTurn(chunk('a'), chunk('b'));
    await turn.settle();
    expect(turn.waiting()).toBe(1);
    const left = turn.joined.return('left');
    await turn.due();
    await left;
    expect(turn.waiting()).toBe(0);
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
      { clock, pace: ownPace(clock) },
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
