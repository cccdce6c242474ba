// @module-tag long
import { readFile } from 'node:fs/promises';

import { expect } from 'vitest';

import { prompts } from './support/requests.ts';
import { writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

/** Hazard: words that announce the file are written into it, or words of the file are left out. */

const LEAD = 'Sure, here is the content of the file:\n\n';
const BODY = 'Dear reader,\n\nthis is the first letter.\n';

test.concurrent('R271: DROP leaves them out, keeps them aside, and the receipt says so', async ({
  machine,
}) => {
  const provider = await machine.provider(writeMessages('a.txt', [`${LEAD}${BODY}DONE`, 'DROP']));
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(prompts(provider.requests)).toHaveLength(1);
  expect(String(await machine.read('a.txt'))).toBe(BODY);
  const [receipt] = ended.result().receipts;
  expect(receipt).toMatchObject({ lead_dropped: true, lines: 3, warnings: [] });
  expect(await readFile(receipt?.trailing ?? '', 'utf8')).toBe(LEAD);
});

test.concurrent('R271: without an answer the session waits, and its commands decide', async ({
  machine,
}) => {
  for (const [word, file] of [
    ['drop', BODY],
    ['keep', `${LEAD}${BODY}`],
  ] as const) {
    const provider = await machine.provider(
      writeMessages(`${word}.txt`, [`${LEAD}${BODY}DONE`, 'I do not understand.']),
    );
    const asked = await machine.ask(provider);
    expect(asked.exitCode, asked.stderr).toBe(3);
    const [session] = await machine.sessions();
    const command = `recover-session ${session?.id} --finalize --answer ${word}`;
    expect(asked.stderr).toContain(`  orion ${command}\n`);
    const ended = await machine.run(command.split(' '));
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read(`${word}.txt`))).toBe(file);
    expect(ended.stderr.includes('words before it left out')).toBe(word === 'drop');
  }
});

longTest(
  'Z2: a fence that ends before a DONE line is left out of what END leaves',
  async ({ machine }) => {
    const text = '```ts\nconst a = 1;\n```\nDONE\nI hope this helps you!\n';
    const provider = await machine.provider(writeMessages('a.ts', [text, 'END 4.']));
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.ts'))).toBe('const a = 1;\n');
    expect(ended.result().receipts).toMatchObject([{ fence_stripped: true, lines: 1 }]);
  },
);

longTest(
  'R295: the last line gets its ending where DONE says that it is complete',
  async ({ machine }) => {
    const provider = await machine.provider(writeMessages('a.py', ['x = 1\r\ny = 2', 'DONE']));
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.py'))).toBe('x = 1\r\ny = 2\r\n');
    expect(ended.result().receipts).toMatchObject([{ final_newline_added: true, bytes: 14 }]);
  },
);
