import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import type { Behaviour } from '@orion/llm-adapters/scripted';

import { lastToolMessage } from './support/requests.ts';
import { at } from './support/sandbox.ts';
import { LAST_WORD } from './support/scripts.ts';
import { test } from './support/test.ts';

/** Hazard: a command, or the folder that it runs in, writes to the terminal or hides a part of itself. B15, B16, B18. */

/** What a terminal acts on, draws as nothing or reorders, and how it has to be shown. */
const HOSTILE: readonly (readonly [text: string, shown: string])[] = [
  ['\u001b]0;title\u0007', String.raw`\x1b]0;title\x07`],
  ['\u001b]52;c;aGk=\u0007', String.raw`\x1b]52;c;aGk=\x07`],
  ['\u001b]8;;http://x\u001b\\', String.raw`\x1b]8;;http:` + '//x' + String.raw`\x1b` + '\\'],
  ['\u001b[2J\u001b[1A', String.raw`\x1b[2J\x1b[1A`],
  ['\u001bP$q"p\u001b\\', String.raw`\x1bP$q"p\x1b` + '\\'],
  ['\u001b_x\u001b\\', String.raw`\x1b_x\x1b` + '\\'],
  ['\u009b3J', String.raw`\x9b3J`],
  ['\u0090q\u009c', String.raw`\x90q\x9c`],
  ['\b\b\b', String.raw`\x08\x08\x08`],
  ['\u007f', String.raw`\x7f`],
  ['\rhidden', String.raw`\x0dhidden`],
  ['\u202eback\u202c', String.raw`\u202eback\u202c`],
  ['\u2066iso\u2069', String.raw`\u2066iso\u2069`],
  ['a\u200bb', String.raw`a\u200bb`],
  ['\u{e0041}\u{e0042}', String.raw`\u{e0041}\u{e0042}`],
  ['\ufe0f\ufe0f\ufe0f', String.raw`\ufe0f\ufe0f\ufe0f`],
  ['\u2028', String.raw`\u2028`],
];

/** Whatever Orion writes itself besides text: colours, and the beginning and the end of a line. */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const OWN = /\u001b\[\d*m|\r|\n/gu;

test.concurrent('shows all of a line and of its folder, and lets the terminal obey none of it', async ({
  machine,
}) => {
  const all = HOSTILE.map(([text]) => text).join('|');
  const shown = HOSTILE.map(([, text]) => text).join('|');
  const folder = `w ${all.replaceAll(/[/\0]/gu, '')}`.slice(0, 100);
  const cwd = join(machine.root, folder);
  await mkdir(cwd);
  const call: Behaviour = {
    name: 'line',
    when: { toolResults: 0 },
    reply: { toolCalls: [{ name: 'run_command', arguments: { command: `echo ${all}` } }] },
  };
  const provider = await machine.provider({ behaviours: [call, LAST_WORD] });
  const terminal = machine.terminal(['run', ...at(provider), 'go'], { cwd });
  const output = await terminal.waitForOutput('cannot be undone. (y/N');
  const text = output.replaceAll(OWN, '');
  expect(text).toContain(`  echo ${shown}`);
  expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(text).toContain(String.raw`about to run in ${machine.root}/w \x1b]0;title\x07|`);
  expect(text).toContain(String.raw`Run it in ${machine.root}/w \x1b]0;title\x07|`);
  terminal.type('n because\r');
  const ended = await terminal.finished;
  expect(ended.exitCode).toBe(0);
  expect(lastToolMessage(provider.requests)).toContain('the person said no: because');
});

test.concurrent('refuses what nobody would read to its end, and says so', async ({ machine }) => {
  const long = [`: > made\n${': \n'.repeat(200)}`, `: > made; echo ${'x'.repeat(20_000)}`];
  const provider = await machine.provider({
    behaviours: [
      ...long.map((command, at): Behaviour => ({
        name: `line ${at}`,
        when: { toolResults: at },
        reply: { toolCalls: [{ name: 'run_command', arguments: { command } }] },
      })),
      LAST_WORD,
    ],
  });
  const { exitCode, output } = await machine.terminal(['run', ...at(provider), 'go']).finished;
  expect(exitCode).toBe(0);
  expect(output.match(/it is too long to review/gu)).toHaveLength(2);
  expect(output).not.toContain('(y/N');
  expect(await machine.exists('made')).toBe(false);
});
