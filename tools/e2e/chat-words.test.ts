import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { expect } from 'vitest';

import { at } from './support/sandbox.ts';
import { sent } from './support/requests.ts';
import { LAST_WORD } from './support/scripts.ts';
import { test } from './support/test.ts';

/** Hazard: a model is given words that the person does not see, or not those that the person gave. */

test.concurrent('names the instructions that it read, with their sizes', async ({ machine }) => {
  const own = join(machine.home, '.config/orion');
  await mkdir(own, { recursive: true });
  await writeFile(join(own, 'AGENTS.md'), 'Be brief.\n');
  await machine.write('AGENTS.md', 'x'.repeat(40_000));
  const provider = await machine.provider({ behaviours: [LAST_WORD] });
  const terminal = machine.terminal(['chat', '--plain', ...at(provider)]);
  const output = await terminal.waitForOutput('> ');
  // The line is broken between words, wherever the folder of the test ends.
  const words = stripVTControlCharacters(output).split(/\s+/u).join(' ');
  expect(words).toContain(' · your AGENTS.md (10 B) · AGENTS.md (its first 32.8 kB)');
  terminal.type('/exit\r');
  expect((await terminal.finished).exitCode).toBe(0);
});

const EDIT = '\u0007';
const ANSWER = 'The answer: \u001B]0;x\u0007 é';

test.concurrent('edits a prompt in the editor of the person, attaches what it names, and copies the answer', async ({
  machine,
}) => {
  await machine.write('src/a.ts', 'export const a = 1;\n');
  await machine.write('editor', '#!/bin/sh\nprintf " and @src/a.ts, not @scope/name" >> "$2"\n');
  await chmod(machine.path('editor'), 0o755);
  const provider = await machine.provider({ behaviours: [{ reply: { text: ANSWER } }] });
  const terminal = machine.terminal(['chat', ...at(provider)], {
    env: { EDITOR: `'${machine.path('editor')}' --wait` },
  });
  await terminal.waitForScreen('scripted · act');
  terminal.type('See this');
  await terminal.waitForScreen('See this');
  terminal.type(EDIT);
  await terminal.waitForScreen('See this and @src/a.ts, not @scope/name');
  terminal.type('\r');
  await terminal.waitForScreen('@src/a.ts 1 line, 20 bytes');
  await terminal.waitForScreen(/\d tokens/u);
  terminal.type('/context\r');
  await terminal.waitForScreen('conversation so far');
  terminal.type('/copy\r');
  await terminal.waitForScreen('sent to the clipboard');
  terminal.type('/exit\r');
  const { exitCode, output } = await terminal.finished;
  expect(exitCode, output).toBe(0);
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  const copied = [...output.matchAll(/\u001B\]52;c;([^\u0007]*)\u0007/gu)];
  expect(copied.map(([, base64 = '']) => Buffer.from(base64, 'base64').toString())).toEqual([
    'The answer: \\x1b]0;x\\x07 é',
  ]);
  const message = sent(provider.requests)[0]?.messages.at(-1)?.content ?? '';
  expect(message).toMatch(/^See this and @src\/a\.ts, not @scope\/name\n\nAttached/u);
  expect(message).toContain('\nexport const a = 1;\n[end ');
  expect(message).not.toContain('"scope');
});
