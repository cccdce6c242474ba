import { expect } from 'vitest';

import { LAST_WORD, writeMessages, writePieces } from './support/scripts.ts';
import { test } from './support/test.ts';

test.concurrent('A2: CRLF divided over events and a marker with blanks keep the exact bytes', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [...writePieces('two.txt', ['one\r', '\ntwo\r\nDO', 'NE \t']), LAST_WORD],
  });
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode).toBe(0);
  expect((await machine.read('two.txt')).toString('hex')).toBe('6f6e650d0a74776f0d0a');
  expect(ended.result().receipts[0]?.eol).toBe('crlf');
});

test.concurrent('A2: a code fence around a code file is left out, and the receipt says so', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [...writePieces('a.py', ['```python\nx = 1\n```\nDONE']), LAST_WORD],
  });
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode).toBe(0);
  expect(String(await machine.read('a.py'))).toBe('x = 1\n');
  expect(ended.result().receipts[0]).toMatchObject({ bytes: 6, fence_stripped: true });
});

test.concurrent('A2: lines that only resemble the marker finalize nothing and are kept', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [...writePieces('b.txt', ['a\nDONENESS\n done\ndone\n']), LAST_WORD],
  });
  const ended = await machine.ask(provider, ['--json'], { env: { WRITE_SESSION_IDLE_MS: '0' } });
  expect(ended.exitCode).toBe(3);
  expect(await machine.exists('b.txt')).toBe(false);
  const [session] = await machine.sessions();
  expect(String(await session?.content())).toBe('a\nDONENESS\n done\ndone\n');
  expect(ended.result().paused[0]).toMatchObject({ code: 'NO_DONE', bytes: 22, lines: 4 });
});

test.concurrent('WRITE_SESSION_EOL: new text takes the line endings of its file, or stays as it came', async ({
  machine,
}) => {
  for (const [path, eol, expected] of [
    ['match.txt', 'match', 'old\r\nnew\r\n'],
    ['as-is.txt', 'as-is', 'old\r\nnew\n'],
  ] as const) {
    await machine.write(path, 'old\r\n');
    const provider = await machine.provider(
      writeMessages(path, ['new\nDONE'], { operation: 'append' }),
    );
    const env = { WRITE_SESSION_EOL: eol };
    const ended = await machine.ask(provider, ['--json'], { env });
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read(path))).toBe(expected);
  }
});
