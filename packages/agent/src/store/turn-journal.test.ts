import { OrionError, type RunEvent, type RunEventBody, type TurnLog } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { runEventOf } from './log-entry.ts';
import { observeTurnLog } from './observed-store.ts';
import { StoreHealth } from './store-health.ts';
import { TurnJournal } from './turn-journal.ts';

const CLAIM = { turnId: 't', epoch: 7, lastSeq: 0, checkpoint: null, idleAttempts: 1 };

type Append = { readonly epoch: number; readonly expectSeq: number; readonly kinds: string[] };

/** A log that does what `answer` says with each append. */
function journalWith(answer: (call: number) => Promise<void> = () => Promise.resolve()) {
  const appends: Append[] = [];
  const data: unknown[] = [];
  const log: Pick<TurnLog, 'acquire' | 'append'> = {
    acquire: () => Promise.resolve(CLAIM),
    async append(_turnId, epoch, expectSeq, events) {
      appends.push({ epoch, expectSeq, kinds: events.map((event) => event.kind) });
      data.push(...events.map((event) => event.data));
      await answer(appends.length);
      return (events.at(-1)?.seq ?? 0) + 0;
    },
  };
  const clock = createFakeClock();
  const health = new StoreHealth({ clock });
  const observed = observeTurnLog(log as TurnLog, health);
  const journal = new TurnJournal({ log: observed, clock, turnId: 't', health });
  let seq = 0;
  const note = (...bodies: RunEventBody[]): void => {
    for (const body of bodies) {
      seq += 1;
      const base = { seq, requestId: 't', projectId: 'p', conversationId: 'c', protocol: 'x' };
      journal.note({ ...base, phase: 'action', phaseIndex: 0, cycleIndex: 0, ...body } as RunEvent);
    }
  };
  return { journal, log, clock, health, appends, data, note };
}

const chunk = (content = 'text'): RunEventBody => ({ type: 'chunk', content, source: 'model' });
const unavailable = (retryable = true): OrionError =>
  new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable });
const never = (): Promise<void> => new Promise(() => undefined);

describe('the journal of a turn', () => {
  it('appends what came within 100 ms at once, numbered as it was shown', async () => {
    const { clock, appends, note } = journalWith();
    note(chunk(), chunk());
    await clock.advance(99);
    expect(appends).toEqual([]);
    await clock.advance(1);
    expect(appends).toEqual([{ epoch: 7, expectSeq: 1, kinds: ['chunk', 'chunk'] }]);
    note(chunk());
    await clock.advance(100);
    expect(appends[1]).toEqual({ epoch: 7, expectSeq: 3, kinds: ['chunk'] });
  });

  it('does not wait when fifty lines are there', async () => {
    const { clock, appends, note } = journalWith();
    note(chunk('\n'.repeat(48)));
    await clock.advance(0);
    expect(appends).toHaveLength(0);
    note(chunk('one more'));
    await clock.advance(0);
    expect(appends).toHaveLength(1);
  });

  it('keeps of the content of a file where it stands, and gives null for it', async () => {
    const { journal, data, note } = journalWith();
    note({ type: 'write_chunk', sessionId: 's', offset: 3, length: 6, content: 'secret' });
    await journal.settled();
    expect(data).toMatchObject([{ sessionId: 's', offset: 3, length: 6 }]);
    expect(JSON.stringify(data)).not.toContain('secret');
    expect(runEventOf({ seq: 1, kind: 'write_chunk', data: data[0] as never })).toMatchObject({
      type: 'write_chunk',
      seq: 1,
      content: null,
    });
  });

  it('repeats an append whose outcome is not known, just as it was', async () => {
    const { journal, clock, appends, note, health } = journalWith((call) =>
      call < 3 ? Promise.reject(unavailable()) : Promise.resolve(),
    );
    note(chunk());
    await clock.advance(1000);
    expect(appends).toEqual([appends[0], appends[0], appends[0]]);
    expect(journal.dropped()).toBe(0);
    expect(health.takeNotice()).toContain('STORE_UNAVAILABLE');
    expect(health.takeNotice()).toBeNull();
  });

  it('acquires a turn again whose acquire had no answer, and writes with the newer number', async () => {
    const { journal, clock, log, appends, note } = journalWith();
    const attempts: (number | null)[] = [];
    log.acquire = (_turnId, attempt) => {
      attempts.push(attempt);
      return attempts.length === 1
        ? Promise.reject(unavailable())
        : Promise.resolve({ ...CLAIM, epoch: 8 });
    };
    note(chunk());
    await clock.advance(200);
    await journal.settled();
    note(chunk());
    await journal.settled();
    expect(attempts).toEqual([1, 1]);
    expect(appends.map(({ epoch }) => epoch)).toEqual([8, 8]);
  });

  it.each(['FENCED', 'TURN_LOG_GAP'] as const)(
    'ends at %s and counts what is left out',
    async (code) => {
      const { journal, clock, note, appends } = journalWith(() =>
        Promise.reject(new OrionError({ code, message: 'no' })),
      );
      note(chunk());
      await clock.advance(100);
      note(chunk(), chunk());
      await clock.advance(1000);
      expect(appends).toHaveLength(1);
      expect(journal.dropped()).toBe(3);
    },
  );

  it('makes an effect wait for a log that hangs once, and never again', async () => {
    const { journal, clock, note } = journalWith(never);
    note(chunk());
    let waited = false;
    const settled = journal.settled().then(() => (waited = true));
    await clock.advance(14);
    expect(waited).toBe(false);
    await clock.advance(1);
    await settled;
    note(chunk());
    // With the clock standing still: nothing is waited for.
    await journal.settled();
    await journal.end();
  });

  it('takes the turn before there is anything to append', async () => {
    const { journal, clock, log, appends, note } = journalWith();
    let taken = 0;
    log.acquire = () => {
      taken += 1;
      return Promise.resolve(CLAIM);
    };
    journal.open();
    await clock.advance(0);
    expect([taken, appends.length]).toEqual([1, 0]);
    note(chunk());
    await clock.advance(100);
    expect([taken, appends.length]).toEqual([1, 1]);
  });

  it('keeps no more than 10,000 events for a log that does not answer', async () => {
    const { journal, clock, note } = journalWith(never);
    for (let count = 0; count < 10_000; count += 1) note(chunk());
    await clock.advance(100);
    expect(journal.dropped()).toBe(0);
    note(chunk());
    expect(journal.dropped()).toBe(10_001);
  });

  it('keeps no more than 16 million characters for it, of what a model can make long', async () => {
    const long = 'x'.repeat(4 * 1024 * 1024);
    const calls = [{ id: 'c', name: 'n', arguments: long }];
    const { journal, note } = journalWith(never);
    note(chunk(long), { type: 'tool_calls', calls }, chunk(long));
    note({ type: 'tool_result', callId: 'c', toolName: 'n', ok: true, summary: long });
    expect(journal.dropped()).toBe(0);
    note(chunk('one more'));
    expect(journal.dropped()).toBe(5);
  });

  it('ends with everything stored, after one more attempt, and leaves no timer', async () => {
    const { journal, clock, appends, note } = journalWith((call) =>
      call === 1 ? Promise.reject(unavailable()) : Promise.resolve(),
    );
    note(chunk());
    await clock.advance(100);
    note({ type: 'done', fullContent: '', status: 'complete', protocolReason: 'x' });
    await journal.end();
    await journal.finished;
    expect(appends.slice(1).map(({ kinds }) => kinds)).toEqual([['chunk'], ['done']]);
    expect(journal.dropped()).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  it('goes on after the turn with a log that is away, and gives up a minute later', async () => {
    let away = true;
    const { journal, clock, appends, note } = journalWith(() =>
      away ? Promise.reject(unavailable()) : Promise.resolve(),
    );
    note(chunk());
    await journal.end();
    await clock.advance(30_000);
    away = false;
    await clock.advance(1_000);
    await journal.finished;
    expect(appends.at(-1)?.kinds).toEqual(['chunk']);
    expect(journal.dropped()).toBe(0);
    expect(clock.pending()).toBe(0);

    const hopeless = journalWith(() => Promise.reject(unavailable()));
    hopeless.note(chunk());
    await hopeless.journal.end();
    await hopeless.clock.advance(60_000);
    await hopeless.journal.finished;
    expect(hopeless.journal.dropped()).toBe(1);
    expect(hopeless.clock.pending()).toBe(0);
  });

  it('finishes with one more attempt, or when it is abandoned', async () => {
    const { journal, appends, note, clock } = journalWith(() => Promise.reject(unavailable()));
    note(chunk());
    await journal.end();
    const before = appends.length;
    await journal.finish();
    expect(appends.length - before).toBeLessThanOrEqual(1);
    expect(journal.dropped()).toBe(1);
    expect(clock.pending()).toBe(0);

    const hung = journalWith(never);
    hung.note(chunk());
    const finishing = hung.journal.finish();
    await hung.clock.advance(10_000);
    hung.journal.abandon();
    await finishing;
    expect(hung.journal.dropped()).toBe(1);
    expect(hung.clock.pending()).toBe(0);
  });
});
