import fastCheck from 'fast-check';
import { expect, test } from 'vitest';

import { fitsLog, formatEventId, parseEventId } from './turn-position.ts';

/** Hazard: a reader resumes where another history stands, and misses what was written anew. */

const whole = fastCheck.maxSafeInteger().map(Math.abs);

test('an id is read back as it was written', () => {
  fastCheck.assert(
    fastCheck.property(whole, whole, (seq, epoch) => {
      fastCheck.pre(epoch > 0);
      const id = formatEventId({ seq, epoch });
      expect(id).toMatch(/^\d+\.[0-9a-z]+$/u);
      expect(parseEventId(id)).toEqual({ seq, epoch });
      expect(parseEventId(String(seq))).toEqual({ seq, epoch: null });
    }),
  );
  expect(formatEventId({ seq: 12, epoch: 36 ** 2 })).toBe('12.100');
});

test.each([
  '',
  '.',
  '1.',
  '.1',
  '-1',
  '+1',
  '01',
  '1.0',
  '1.01',
  '1.A',
  '1.a.b',
  ' 1',
  '1\n',
  '1e3',
  '9007199254740992',
  '1.2gosa7pa2gw',
  '12345678901234567',
  '1.zzzzzzzzzzzz',
])('%j is no id', (text) => {
  expect(parseEventId(text)).toBeNull();
});

test('the largest numbers are ids', () => {
  expect(parseEventId('9007199254740991.2gosa7pa2gv')).toEqual({
    seq: Number.MAX_SAFE_INTEGER,
    epoch: Number.MAX_SAFE_INTEGER,
  });
});

test('whatever is sent is an id or is none, and an id is written as it was sent', () => {
  const text = fastCheck.oneof(
    fastCheck.string(),
    fastCheck.stringMatching(/^\d{0,18}\.?[0-9a-z]{0,13}$/u),
  );
  fastCheck.assert(
    fastCheck.property(text, (sent) => {
      const position = parseEventId(sent);
      if (position === null) return;
      const { seq, epoch } = position;
      expect(epoch === null ? String(seq) : formatEventId({ seq, epoch })).toBe(sent);
    }),
  );
});

test.each([
  ['the beginning', 0, null, null, true],
  ['the beginning, by an owner', 0, 7, null, true],
  ['the same event', 3, 7, 7, true],
  ['the same number of another owner', 3, 7, 8, false],
  ['a number that the log does not have', 3, 7, null, false],
  ['a bare number', 3, null, 8, true],
  ['a bare number beyond the log', 3, null, null, false],
])('%s', (_, seq, epoch, epochAt, fits) => {
  expect(fitsLog({ seq, epoch }, epochAt)).toBe(fits);
});
