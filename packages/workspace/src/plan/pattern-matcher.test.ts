import { systemClock } from '@orion/contracts';
import { expect, it, vi } from 'vitest';
import { createPatternMatcher } from './pattern-matcher.ts';

/** Hazard: an expression of a model that stops everything else. B21, R115. */

// Processes and threads start slowly on a machine that does much else.
vi.setConfig({ testTimeout: 60_000 });

const HOPELESS = `${'a'.repeat(40)}!`;

it('tells where each line matches, and counts what it does not list', async () => {
  const search = await createPatternMatcher(systemClock, { listed: 2 }).open('b+|^$');
  expect(await search.match(['abba', '', 'none', '😀b'])).toEqual({
    count: 3,
    matches: [
      { line: 0, start: 1, end: 3 },
      { line: 1, start: 0, end: 0 },
    ],
  });
  expect(await search.match(['😀b'])).toEqual({
    count: 1,
    matches: [{ line: 0, start: 2, end: 3 }],
  });
  expect(await search.match([])).toEqual({ count: 0, matches: [] });
  await search.close();
});

it('stops an expression that would take for ever, while everything else goes on', async () => {
  const search = await createPatternMatcher(systemClock).open('(a+)+$');
  const order: string[] = [];
  const matching = search.match([HOPELESS]).catch((error: unknown) => {
    order.push('stopped');
    return error;
  });
  let turns = 0;
  while (order.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    turns += 1;
  }
  expect(await matching).toMatchObject({ code: 'MARKER_TIMEOUT' });
  // The thread of this test was free all the time.
  expect(turns).toBeGreaterThan(10);
  await search.close();
});

it('does not take a busy thread of its own for a slow expression', async () => {
  const search = await createPatternMatcher(systemClock, { matchMs: 1 }).open('a');
  // From here the next thing that the loop looks at are timers, and only then what other threads have sent.
  await new Promise((resolve) => setImmediate(resolve));
  const matching = search.match(['a']);
  for (const until = performance.now() + 60; performance.now() < until;);
  expect((await matching).count).toBe(1);
  await search.close();
});

it.each([
  ['what does not compile', '(', /is not valid/u],
  ['what is too long', 'a'.repeat(1001), /more than 1000 characters/u],
])('refuses %s', async (_name, pattern, message) => {
  await expect(createPatternMatcher(systemClock).open(pattern)).rejects.toMatchObject({
    code: 'INVALID_OPERATION',
    message: expect.stringMatching(message) as string,
  });
});

it('understands escapes that are not allowed in Unicode mode', async () => {
  const search = await createPatternMatcher(systemClock).open('a\\-b');
  expect((await search.match(['a-b'])).count).toBe(1);
  await search.close();
});
