/**
 * Every short message of the lines that matter to a marker, with all that is read of it, in one table. Other tests say
 * what matters of it; this one notices any other change. With `-u` the file is written anew.
 */
import { expect, test } from 'vitest';

import { readMessage } from '../testing/read-message.ts';
import type { MessageResult, ReadOptions } from '../testing/read-message.ts';

const LINES = ['a', 'DONE', 'DONE 7f3a', '```', '', 'Bye now.'];
const SETTINGS: Readonly<Record<string, ReadOptions>> = {
  strict: { strict: true },
  first: { doneMode: 'first' },
  broken: { orderly: false },
  'in a fence of its own': { wrappingFence: { character: '`', length: 3, info: '' } },
  'behind a fence': { before: '```py\nx\n' },
  'in an open line': { before: 'x\nDO' },
};

const messages: readonly string[] = [1, 2, 3].flatMap((length) =>
  Array.from({ length: LINES.length ** length }, (_, number) =>
    Array.from(
      { length },
      (__, place) => LINES[Math.floor(number / LINES.length ** place) % LINES.length],
    ).join('\n'),
  ),
);

function told({ content, ending, blank, rest, blankLinesDropped }: MessageResult): string {
  const { kind, innerDoneLines, setAside, ...more } = ending;
  const facts = {
    ...more,
    ...(innerDoneLines.length === 0 ? {} : { innerDoneLines }),
    ...(setAside === '' ? {} : { setAside }),
    ...(blank ? { blank } : {}),
    ...(rest === null ? {} : { rest }),
    ...(blankLinesDropped === 0 ? {} : { blankLinesDropped }),
  };
  return `${JSON.stringify(content)} ${kind} ${JSON.stringify(facts)}`;
}

test('what is read of short messages', async () => {
  const lines = messages.flatMap((message) =>
    [`${message}\n`, ...(message.endsWith('\n') ? [] : [message])].flatMap((text) => {
      const plain = told(readMessage([text]));
      const others = Object.entries(SETTINGS).flatMap(([name, options]) => {
        const own = told(readMessage([text], options));
        return own === plain ? [] : [`  ${name}: ${own}`];
      });
      return [`${JSON.stringify(text)}: ${plain}`, ...others];
    }),
  );
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('__snapshots__/short-messages.txt');
});
