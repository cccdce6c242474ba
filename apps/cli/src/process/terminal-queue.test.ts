import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createTerminalQueue, type TerminalQueue } from './terminal-queue.ts';

const LIMIT = 1024 * 1024;

let shown: string;
/** How many bytes the terminal takes before it stops reading. */
let room: number;
let queue: TerminalQueue;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  shown = '';
  room = Infinity;
  queue = createTerminalQueue({
    id: 1,
    write(bytes) {
      const taken = bytes.subarray(0, Math.min(bytes.length, room, 4096));
      room -= taken.length;
      shown += Buffer.from(taken).toString();
      return taken.length;
    },
  });
});

afterEach(() => {
  vi.useRealTimers();
});

/** The terminal reads again. */
function read(bytes = Infinity): void {
  room = bytes;
  vi.advanceTimersByTime(50);
}

function line(number: number): string {
  return `line ${String(number).padStart(10, '0')}\n`;
}

describe('the queue of a terminal', () => {
  it('T1: writes at once what the terminal takes', () => {
    expect(queue.write('one\n')).toBe(false);
    queue.offer('two\n');
    expect(shown).toBe('one\ntwo\n');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('T1: tries again by a timer, more and more rarely, while the terminal takes nothing', () => {
    room = 0;
    queue.write('text\n');
    for (const pause of [2, 4, 8, 16, 32, 50, 50]) {
      vi.advanceTimersByTime(pause - 1);
      room = 1;
      expect(shown).toBe('');
      room = 0;
      vi.advanceTimersByTime(1);
    }
    room = 2;
    vi.advanceTimersByTime(50);
    expect(shown).toBe('te');
    // It reads: the first pause again.
    room = Infinity;
    vi.advanceTimersByTime(2);
    expect(shown).toBe('text\n');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is drained when the terminal has everything', async () => {
    room = 1;
    queue.write('text');
    let drained = false;
    const waiting = queue.drained().then(() => {
      drained = true;
    });
    await Promise.resolve();
    expect(drained).toBe(false);
    read();
    await waiting;
    expect(shown).toBe('text');
    await queue.drained();
  });

  it('T2: lets a writer wait above 64 KiB, and leaves out nothing of what was written', () => {
    room = 0;
    const text = line(1).repeat(4096);
    expect(text.length).toBe(LIMIT / 16);
    expect(queue.write(text)).toBe(false);
    expect(queue.write('x')).toBe(true);
    for (let count = 0; count < 40; count += 1) queue.write(text);
    read();
    expect(shown).toBe(`${text}x${text.repeat(40)}`);
  });

  it('T3: leaves out the oldest of what was offered, whole lines, and says how many', () => {
    room = 0;
    const total = LIMIT / 16 + 1;
    for (let number = 1; number <= total; number += 1) {
      if (number === 10) queue.write('a receipt\n');
      queue.offer(line(number));
    }
    queue.write('the end\n');
    read();
    const left = LIMIT / 32;
    expect(shown.split('\n').slice(0, 3)).toEqual([
      `[32,769 lines left out: the terminal did not read what was written to it]`,
      'a receipt',
      line(total - left + 1).trim(),
    ]);
    expect(shown.endsWith(`${line(total)}the end\n`)).toBe(true);
    expect(shown.split('\n')).toHaveLength(left + 4);
  });

  it('T3: exactly the limit is not too much', () => {
    room = 0;
    queue.offer('x'.repeat(LIMIT));
    read();
    expect(shown).toBe('x'.repeat(LIMIT));
  });

  it('T3: what the terminal has begun to show goes on to the end of what was written with it', () => {
    room = 3;
    queue.offer('begun');
    queue.offer(`a line that goes on${'x'.repeat(LIMIT)}`);
    queue.offer('to here\nlast\n');
    read();
    expect(shown).toBe(
      'begun\n[1 line left out: the terminal did not read what was written to it]\nto here\nlast\n',
    );
  });

  it('T3: of progress that waits only the last stays', () => {
    room = 1;
    queue.offerFrame('\r10 lines');
    queue.offerFrame('\r20 lines');
    queue.write('said\n');
    queue.offerFrame('\r30 lines');
    queue.offerFrame('\r40 lines');
    read();
    expect(shown).toBe('\r10 linessaid\n\r40 lines');
  });

  it('T3: progress goes before lines', () => {
    room = 0;
    queue.offerFrame('\r10 lines');
    queue.offer(`${'x'.repeat(LIMIT)}\n`);
    queue.offer('y\n');
    read();
    expect(shown).not.toContain('10 lines');
  });

  it('does not keep what nobody can read any more, and says why', async () => {
    queue = createTerminalQueue({
      id: 1,
      write() {
        throw Object.assign(new Error('hung up'), { code: 'EIO' });
      },
    });
    queue.write('text');
    await queue.drained();
    expect(queue.write('x'.repeat(LIMIT))).toBe(false);
    expect(queue.failure()?.message).toBe('hung up');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('costs each byte once while the terminal takes nothing', () => {
    room = 0;
    const before = process.cpuUsage();
    const text = 'a line of text that is offered\n'.repeat(4);
    for (let count = 0; count < 100_000; count += 1) queue.offer(text);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });
});
