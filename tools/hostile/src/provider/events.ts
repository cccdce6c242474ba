import type { AttackOf } from '../attack.ts';
import { keptInSession } from '../holds.ts';
import { END, END_OF_CALLS, event, flood, reply } from '../provider.ts';
import { answering, DEEP, flooding, withinContent } from './manners.ts';

const FILLER = 'x'.repeat(100);

/** What an event stream consists of: lines, JSON, numbers, bytes. */
export const EVENTS: readonly AttackOf[] = [
  {
    name: 'comments for ever',
    provider: flooding(`: ${FILLER}\n`, Infinity),
    options: ['--max-seconds', '3'],
    exits: [1, 5],
  },
  {
    name: 'data lines without a blank line, 600 MB',
    provider: withinContent((to) => flood(to, `data: ${FILLER}\n`)),
    holds: keptInSession,
    exits: [3],
  },
  {
    name: 'data lines of a letter without a blank line, 600 MB',
    provider: withinContent((to) => flood(to, 'data: x\n')),
    holds: keptInSession,
    exits: [3],
  },
  {
    name: 'empty data lines without a blank line, 600 MB',
    provider: withinContent((to) => flood(to, 'data:\n')),
    holds: keptInSession,
    exits: [3],
  },
  {
    name: 'a line of data in each read, the rest of it comments, 200 MB',
    provider: withinContent((to) =>
      flood(to, `data: ${FILLER}\n: ${'c'.repeat(65_000)}\n`, 200 * 1024 * 1024),
    ),
    exits: [3],
  },
  {
    name: 'one line without an end, 600 MB',
    provider: withinContent((to) => flood(to, FILLER)),
    holds: keptInSession,
    exits: [3],
  },
  {
    name: 'JSON 100,000 levels deep within content',
    provider: withinContent(async (to) => void (await to.send(event(`{"choices":${DEEP}}`)))),
    holds: keptInSession,
    exits: [3],
  },
  {
    name: 'an error within content, 100,000 levels deep',
    provider: withinContent(
      async (to) => void (await to.send(event(`{"error":{"detail":${DEEP}}}`))),
    ),
    holds: keptInSession,
    exits: [3],
  },
  {
    name: 'an answer in one document, 100,000 levels deep',
    provider: answering(`{"choices":${DEEP}}`),
    exits: [1],
  },
  {
    name: 'numbers that are none',
    provider: (asked, to) =>
      reply(
        to,
        event({
          choices: [],
          usage: { prompt_tokens: 1e308, completion_tokens: -5, total_tokens: 'x' },
        }) +
          event({
            choices: [
              {
                index: 0,
                delta: {
                  tool_calls: [
                    { index: 1e9, id: 'c', function: { name: 'read_file', arguments: '{}' } },
                    { index: -1.5 },
                  ],
                },
              },
            ],
          }) +
          (asked.index === 0 ? END_OF_CALLS : END),
      ),
  },
  {
    name: 'bytes that are no text',
    provider: withinContent(async (to) => {
      await to.send(
        Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0x20, 0xff, 0xfe, 0xc0, 0x80, 0x0a, 0x0a]),
      );
    }),
    holds: keptInSession,
    exits: [3],
  },
];
