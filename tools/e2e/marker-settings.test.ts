import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';

import { writeMessages } from './support/scripts.ts';
import { test } from './support/test.ts';

test.concurrent('R022: WRITE_SESSION_DONE_MODE=first ends at the first DONE and keeps the rest aside', async ({
  machine,
}) => {
  const provider = await machine.provider(
    writeMessages('a.txt', ['one\nDONE\nI hope this helps.']),
  );
  const ended = await machine.ask(provider, ['--json'], {
    env: { WRITE_SESSION_DONE_MODE: 'first' },
  });
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe('one\n');
  const trailing = ended.result().receipts[0]?.trailing ?? '';
  expect(await readFile(trailing, 'utf8')).toContain('I hope this helps.');
});

test.concurrent('R032: WRITE_SESSION_STRIP_FENCE=never keeps every fence', async ({ machine }) => {
  const provider = await machine.provider(writeMessages('a.py', ['```python\nx = 1\n```\nDONE']));
  const ended = await machine.ask(provider, ['--json'], {
    env: { WRITE_SESSION_STRIP_FENCE: 'never' },
  });
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.py'))).toBe('```python\nx = 1\n```\n');
  expect(ended.result().receipts[0]?.fence_stripped).toBe(false);
});

test.concurrent('R042: WRITE_SESSION_MAX_IDLE_PROMPTS=1 asks once', async ({ machine }) => {
  const provider = await machine.provider(writeMessages('a.txt', ['one\n', '']));
  const ended = await machine.ask(provider, ['--json'], {
    env: { WRITE_SESSION_MAX_IDLE_PROMPTS: '1' },
  });
  expect(ended.exitCode, ended.stderr).toBe(3);
  expect(provider.requests).toHaveLength(3);
});

test.concurrent('R047: WRITE_SESSION_SEAM=accept takes a clean reply after a length stop, named unverified', async ({
  machine,
}) => {
  const first = 'const one = 1;\nconst two = 2;\nconst three = 3;\n';
  const rest = 'const four = 4;\nconst five = 5;\nconst six = 6;\nconst seven = 7;\n';
  const script = writeMessages('a.ts', [first, `${rest}DONE\n`]);
  const provider = await machine.provider({
    ...script,
    behaviours: script.behaviours.map((behaviour) =>
      behaviour.name === 'message 1' ? { ...behaviour, faults: [{ kind: 'length' }] } : behaviour,
    ),
  });
  const ended = await machine.ask(provider, ['--json'], { env: { WRITE_SESSION_SEAM: 'accept' } });
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.ts'))).toBe(first + rest);
  expect(ended.result().receipts[0]?.seams).toMatchObject([{ line: 4, status: 'unverified' }]);
});

test.concurrent('R034: WRITE_SESSION_STRICT=true asks for the end marker alone, from the first request on', async ({
  machine,
}) => {
  const body = 'one\ntwo\nDONE\nI am finished.\n';
  const script = writeMessages('a.txt', [body]);
  const provider = await machine.provider({
    ...script,
    behaviours: script.behaviours.map((behaviour) =>
      behaviour.name === 'message 1'
        ? {
            reply: {
              document: {
                target: 'a.txt',
                content: { kind: 'text', text: body },
                endMarker: 'session',
              },
            },
          }
        : behaviour,
    ),
  });
  const ended = await machine.ask(provider, ['--json'], { env: { WRITE_SESSION_STRICT: 'true' } });
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe(body);
  const asked = JSON.stringify(provider.requests[1]?.body);
  expect(asked).toMatch(/After the last line write DONE [0-9a-f]{4} on a line of its own/u);
  expect(asked.replaceAll(/DONE [0-9a-f]{4}/gu, '')).not.toContain('DONE');
});
