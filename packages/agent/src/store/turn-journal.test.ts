import { OrionError, type RunEvent, type RunEventBody, type TurnLog } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { runEventOf } from './log-entry.ts';
import { StoreTrouble } from './store-trouble.ts';
import { TurnJournal } from './turn-journal.ts';

type Append = { readonly epoch: number; readonly expectSeq: number; readonly kinds: string[] };

/** A log that does what `answer` says with each append. */
function journalWith(answer: (call: number) => Promise<void> = () => Promise.resolve()) {
  const appends: Append[] = [];
  const data: unknown[] = [];
  const log: Pick<TurnLog, 'acquire' | 'append' | 'epochOf'> = {
    acquire: () => Promise.resolve(),
    epochOf: () => Promise.resolve(1),
    async append(_turnId, epoch, expectSeq, events) {
      appends.push({ epoch, expectSeq, kinds: events.map((event) => event.kind) });
      data.push(...events.map((event) => event.data));
      await answer(appends.length);
      return (events.at(-1)?.seq ?? 0) + 0;
    },
  };
  const clock = createFakeClock();
  const trouble = new StoreTrouble();
  const journal = new TurnJournal({ log: log as TurnLog, clock, turnId: 't', trouble });
  let seq = 0;
  const note = (...bodies: RunEventBody[]): void => {
    for (const body of bodies) {
      seq += 1;
      const base = { seq, requestId: 't', projectId: 'p', conversationId: 'c', protocol: 'x' };
      journal.note({ ...base, phase: 'action', phaseIndex: 0, cycleIndex: 0, ...body } as RunEvent);
    }
  };
  return { journal, log, clock, trouble, appends, data, note };
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
    expect(appends).toEqual([{ epoch: 1, expectSeq: 1, kinds: ['chunk', 'chunk'] }]);
    note(chunk());
    await clock.advance(100);
    expect(appends[1]).toEqual({ epoch: 1, expectSeq: 3, kinds: ['chunk'] });
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
    const { journal, clock, appends, note, trouble } = journalWith((call) =>
      call < 3 ? Promise.reject(unavailable()) : Promise.resolve(),
    );
    note(chunk());
    await clock.advance(1000);
    expect(appends).toEqual([appends[0], appends[0], appends[0]]);
    expect(journal.dropped()).toBe(0);
    expect(trouble.failing()).toBe(false);
    expect(trouble.takeNotice()).toContain('STORE_UNAVAILABLE');
    expect(trouble.takeNotice()).toBeNull();
  });

  it('takes a turn whose acquire was answered to nobody for its own', async () => {
    const { journal, log, appends, note } = journalWith();
    log.acquire = () => Promise.reject(new OrionError({ code: 'FENCED', message: 'taken' }));
    note(chunk());
    await journal.settled();
    expect(appends).toHaveLength(1);
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
    await clock.advance(249);
    expect(waited).toBe(false);
    await clock.advance(1);
    await settled;
    note(chunk());
    // With the clock standing still: nothing is waited for.
    await journal.settled();
  });

  it('keeps no more than 10,000 events for a log that does not answer', async () => {
    const { journal, clock, note } = journalWith(never);
    for (let count = 0; count < 10_000; count += 1) note(chunk());
    await clock.advance(100);
    expect(journal.dropped()).toBe(0);
    note(chunk());
    expect(journal.dropped()).toBe(10_001);
  });

  it('ends with everything stored, after one more attempt, and leaves no timer', async () => {
    const { journal, clock, appends, note } = journalWith((call) =>
      call === 1 ? Promise.reject(unavailable()) : Promise.resolve(),
    );
    note(chunk());
    await clock.advance(100);
    note({ type: 'done', fullContent: '', status: 'complete', protocolReason: 'x' });
    await journal.end();
    expect(appends.at(-1)?.kinds).toEqual(['chunk', 'done']);
    expect(journal.dropped()).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  it('gives up in the end', async () => {
    const { journal, clock, note } = journalWith(never);
    note(chunk());
    const ended = journal.end();
    await clock.advance(1000);
    await ended;
    expect(journal.dropped()).toBe(1);
    expect(clock.pending()).toBe(0);
  });
});
