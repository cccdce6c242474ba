import { writeFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import { at } from './support/sandbox.ts';
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
  expect(output).toContain(' · your AGENTS.md (10 B) · AGENTS.md (its first 32.8 kB)');
  terminal.type('/exit\r');
  expect((await terminal.finished).exitCode).toBe(0);
});
