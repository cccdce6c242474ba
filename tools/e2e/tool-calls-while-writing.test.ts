import { expect } from 'vitest';

import { sent } from './support/requests.ts';
import { beginCall, LAST_WORD } from './support/scripts.ts';
import { test } from './support/test.ts';

test('R160: a tool call in a message of content is refused, and the text is still the file', async ({
  machine,
}) => {
  await machine.write('other.txt', 'secret\n');
  const provider = await machine.provider({
    behaviours: [
      {
        when: { toolChoice: 'none' },
        times: 1,
        reply: {
          text: 'one line of content here\nand a second line\nDONE',
          toolCalls: [{ name: 'read_file', arguments: { path: 'other.txt' } }],
        },
      },
      beginCall({ target_file: 'a.txt' }),
      LAST_WORD,
    ],
  });

  const ended = await machine.ask(provider, ['--json', '--verbose']);

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe('one line of content here\nand a second line\n');
  expect(ended.stderr).toMatch(
    / write_session_tool_call_refused session=\S+ \{"code":"SESSION_BUSY","names":"read_file"\}$/mu,
  );
  expect(JSON.stringify(sent(provider.requests))).not.toContain('secret');
});
