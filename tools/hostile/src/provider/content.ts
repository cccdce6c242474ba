import type { AttackOf } from '../attack.ts';
import { says } from '../holds.ts';
import { begin, delta, END, event, flood, HONEST_TEXT, reply, say, writing } from '../provider.ts';
import { flooding, LONG, withinContent } from './manners.ts';

/** Text of an answer, for a file and beside it. */
export const CONTENT: readonly AttackOf[] = [
  {
    name: 'content without an end',
    provider: withinContent((to) => flood(to, say('more and more of it\n'))),
    env: () => ({ WRITE_SESSION_MAX_BYTES: '1048576' }),
    exits: [3],
    holds: says('recover-session'),
  },
  {
    name: 'content in one line without an end',
    provider: withinContent((to) => flood(to, say(LONG))),
    env: () => ({ WRITE_SESSION_MAX_BYTES: '1048576' }),
    exits: [3],
  },
  {
    name: 'reasoning without an end',
    provider: flooding(event(delta({ reasoning_content: LONG }))),
    exits: [0, 1, 5],
  },
  {
    name: 'chat without an end',
    provider: flooding(say(LONG)),
    exits: [0, 1, 5],
  },
  {
    name: 'white space without an end',
    provider: flooding(say(' '.repeat(10_000))),
    exits: [0, 1, 5],
  },
  {
    name: 'a reset within content, each time',
    provider: withinContent(async (to) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      to.socket.resetAndDestroy();
    }),
    exits: [3],
    waits: 20_000,
  },
  {
    name: 'silence within content',
    provider: withinContent(async (to) => {
      await new Promise((resolve) => to.socket.once('close', resolve));
    }),
    exits: [3],
    waits: 15_000,
  },
  {
    name: 'begins a file for ever',
    provider: (asked, to) =>
      asked.stage === 'content'
        ? reply(to, say(`${HONEST_TEXT}DONE\n`) + END)
        : reply(to, begin('a.txt', { operation: 'overwrite' })),
    exits: [0, 1, 5],
  },
  {
    name: 'says nothing, whatever it is asked',
    provider: writing('a.txt', { content: (_asked, to) => reply(to, END) }),
    exits: [0, 3],
    mayWrite: [],
  },
];
