import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { rarely } from './rarely.ts';

/** Hazard: a log that an outage fills with the same line. */

it('passes a text on at once, the same one again after 10 s, and any other at once', async () => {
  const clock = createFakeClock();
  const written: string[] = [];
  const write = rarely(clock, (text) => written.push(text));
  for (const text of ['a', 'a', 'b', 'a']) write(text);
  expect(written).toEqual(['a', 'b']);
  await clock.advance(9999);
  write('a');
  expect(written).toEqual(['a', 'b']);
  await clock.advance(1);
  for (const text of ['a', 'a', 'b']) write(text);
  expect(written).toEqual(['a', 'b', 'a', 'b']);
});
