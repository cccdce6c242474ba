import type { AttackOf } from '../attack.ts';
import { call, END, event, reply, say } from '../provider.ts';
import type { Asked } from '../provider.ts';
import { callingOnce, failing } from './manners.ts';

const keyOf = (asked: Asked): string =>
  String(asked.headers.authorization ?? '').replace('Bearer ', '');

/** The key, given back in the hope that it is printed or kept. */
export const KEYS: readonly AttackOf[] = [
  {
    name: 'echoes the key in an error',
    provider: failing(401, (asked) =>
      JSON.stringify({ error: { message: `No such key: ${keyOf(asked)}${'.'.repeat(1000)}` } }),
    ),
    exits: [1],
  },
  {
    name: 'echoes the key where an error is cut',
    provider: failing(400, (asked) =>
      JSON.stringify({ error: { message: `${'y'.repeat(380)}${keyOf(asked)}` } }),
    ),
    exits: [1],
  },
  {
    name: 'echoes the key in base64 and in a URL',
    provider: failing(400, (asked) => {
      const key = keyOf(asked);
      return JSON.stringify({
        error: { message: `${Buffer.from(key).toString('base64')} ${encodeURIComponent(key)}` },
      });
    }),
    exits: [1],
  },
  {
    name: 'echoes the key in a chat that is divided within it',
    provider: async (asked, to) => {
      const key = keyOf(asked);
      to.head(200);
      for (const piece of key.match(/.{1,7}/gu) ?? []) await to.send(say(piece));
      await to.send(END);
      to.end();
    },
  },
  {
    name: 'echoes the key in a payload that is no JSON',
    provider: (asked, to) => reply(to, event(`{"${'z'.repeat(170)}${keyOf(asked)}`)),
    exits: [1],
  },
  {
    name: 'echoes the key as a name of a tool',
    provider: callingOnce((asked) => call(keyOf(asked), {})),
  },
];
