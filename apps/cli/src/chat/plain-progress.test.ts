import { expect, it } from 'vitest';

import type { Progress } from '../rendering/progress.ts';
import { progressLines } from './plain-progress.ts';

/** Hazard: a screen reader reads progress without end, or hears nothing of a file for minutes. */

const at = (lines: number, file = 'a.txt'): Progress => ({
  file,
  lines,
  bytes: lines * 10,
  durableBytes: lines * 10,
  startedAt: 0,
  startBytes: 0,
});

it('says every 1,000 lines or ten seconds how far a file has come, and begins anew with the next one', () => {
  const said: string[] = [];
  const say = progressLines((line) => said.push(line.replace(/ {2}.*$/u, '')));
  say(null, 0);
  say(at(0), 0);
  say(at(999), 9999);
  expect(said).toEqual([]);
  say(at(1000), 9999);
  expect(said).toEqual(['a.txt']);
  say(at(1001), 19_998);
  expect(said).toHaveLength(1);
  say(at(1001), 19_999);
  say(at(2000), 20_000);
  expect(said).toHaveLength(2);
  say(at(2001), 20_001);
  expect(said).toHaveLength(3);
  say(at(500, 'b.txt'), 500);
  expect(said).toHaveLength(3);
  say(null, 600);
  say(at(900, 'b.txt'), 700);
  say(at(1500, 'b.txt'), 800);
  expect(said).toHaveLength(3);
  say(at(1900, 'b.txt'), 900);
  expect(said.at(-1)).toBe('b.txt');
});
