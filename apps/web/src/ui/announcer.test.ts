import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Announcer, MOST_TOPICS } from './announcer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function listen() {
  const announcer = new Announcer();
  const heard: string[] = [];
  let before = announcer.snapshot();
  announcer.subscribe(() => {
    const now = announcer.snapshot();
    for (const region of ['polite', 'urgent'] as const)
      if (now[region].id !== before[region].id) heard.push(`${region}: ${now[region].text}`);
    before = now;
  });
  return { announcer, heard };
}

test('changes of state are said at most every 10 seconds, the latest of each topic', () => {
  const { announcer, heard } = listen();
  announcer.say('a.md', 'a.md: receiving');
  announcer.say('a.md', 'a.md: idle');
  announcer.say('turn', 'The turn has ended');
  announcer.say('a.md', 'a.md: written');
  vi.advanceTimersByTime(9999);
  expect(heard).toEqual(['polite: a.md: receiving']);
  vi.advanceTimersByTime(1);
  expect(heard.slice(1)).toEqual(['polite: a.md: written. The turn has ended']);
  announcer.say('b.md', 'b.md: receiving');
  expect(heard).toHaveLength(2);
  vi.advanceTimersByTime(10_000);
  expect(heard.slice(2)).toEqual(['polite: b.md: receiving']);
  vi.advanceTimersByTime(10_000);
  announcer.say('b.md', 'b.md: written');
  expect(heard.slice(3)).toEqual(['polite: b.md: written']);
});

test('the same words about the same topic are said once', () => {
  const { announcer, heard } = listen();
  for (let time = 0; time < 3; time += 1) {
    announcer.say('a.md', 'a.md: idle');
    announcer.sayAtOnce('needs you', 'An approval is waiting');
    vi.advanceTimersByTime(20_000);
  }
  expect(heard).toEqual(['polite: a.md: idle', 'urgent: An approval is waiting']);
});

test('what is over before it was said is not said', () => {
  const { announcer, heard } = listen();
  announcer.say('a.md', 'a.md: receiving');
  announcer.say('error', 'STORE_UNAVAILABLE');
  announcer.over('error');
  vi.advanceTimersByTime(20_000);
  expect(heard).toEqual(['polite: a.md: receiving']);
});

test('what is urgent is said at once, and again after it was over', () => {
  const { announcer, heard } = listen();
  announcer.say('a.md', 'a.md: receiving');
  announcer.sayAtOnce('saving is held up', 'Saving a.md is held up');
  announcer.over('saving is held up');
  announcer.sayAtOnce('saving is held up', 'Saving a.md is held up');
  expect(heard.slice(1)).toEqual([
    'urgent: Saving a.md is held up',
    'urgent: Saving a.md is held up',
  ]);
});

test('of very many topics, those that nobody spoke of for longest are forgotten', () => {
  const { announcer, heard } = listen();
  announcer.sayAtOnce('needs you', 'An approval is waiting');
  const say = (number: number): void => announcer.say(`turn ${number}`, 'The turn is running');
  for (let number = 1; number < MOST_TOPICS; number += 1) say(number);
  announcer.sayAtOnce('needs you', 'An approval is waiting');
  say(MOST_TOPICS);
  say(2);
  vi.advanceTimersByTime(20_000);
  const before = heard.length;
  announcer.sayAtOnce('needs you', 'An approval is waiting');
  say(2);
  say(1);
  vi.advanceTimersByTime(20_000);
  expect(heard.slice(before)).toEqual(['polite: The turn is running']);
});
