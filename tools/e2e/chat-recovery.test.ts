import { readdir } from 'node:fs/promises';

import { expect } from 'vitest';

import { at } from './support/sandbox.ts';
import { numbered, writeDocument } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

/** Hazard: what a person has typed, approved or stopped is lost when the process dies, in one of the two faces. R061. */

const TEXT = numbered('line', 1, 2000);
const STALLED = writeDocument(
  { target: 'a.txt', content: TEXT },
  { faults: [{ kind: 'stall', reply: 1, at: { lines: 1000 } }], shape: { chunk: 500 } },
);

for (const [face, tags] of [
  ['rich', []],
  ['plain', ['long']],
] as const) {
  const title = `${face}: a write, an interrupt, a kill, and the next start has the file and the prompt that waited`;
  test.concurrent(title, { tags: [...tags] }, async ({ machine }) => {
    const provider = await machine.provider(STALLED);
    const args = [...at(provider), '--approve', 'ask', ...(face === 'plain' ? ['--plain'] : [])];
    const env = { WRITE_SESSION_SAVE_MS: '50' };
    /** In the plain face the terminal itself edits the line. */
    const key = (letter: string): string => (face === 'plain' ? `${letter}\r` : letter);
    const queued = (): Promise<readonly string[]> =>
      readdir(machine.path('.orion/lists/queue')).catch(() => []);

    const first = machine.terminal(['chat', ...args], { env });
    await first.waitForOutput('orion 0.');
    first.type('Write it.\r');
    await machine.savedSession(5000);
    first.type('And then?\r');
    await waitFor('the stored prompt', async () => (await queued()).length === 1);
    first.kill('SIGKILL');
    await first.finished;

    const second = machine.terminal(['chat', ...args], { env });
    await second.waitForOutput('A file is unfinished: a.txt, create, 1,000 lines');
    await second.waitForOutput('Go on with it?');
    second.type('\r');
    await second.waitForOutput('A prompt was waiting when the last conversation ended:');
    await second.waitForOutput('Send it now?');
    second.type(key('y'));
    await second.waitForOutput('ell the model why not');
    expect(await machine.exists('a.txt')).toBe(false);
    // It is long, and no yes before all of it was shown is one.
    second.type(key('d'));
    await waitFor('the question below its last line', () => {
      const shown = second.output();
      const middle = shown.indexOf('+line 1000');
      const end = middle === -1 ? -1 : shown.indexOf('+line 2000', middle);
      return end !== -1 && shown.includes('ell the model why not', end);
    });
    second.type(key('y'));
    await second.waitForOutput('Created a.txt: 2,000 lines');
    expect(String(await machine.read('a.txt'))).toBe(TEXT);
    const asked = (): number =>
      provider.requests.filter(({ body }) => JSON.stringify(body).includes('And then?')).length;
    await waitFor('the waiting prompt', () => asked() === 1);
    await waitFor('an empty list of prompts', async () => (await queued()).length === 0);
    await second.waitForOutput('All written.');
    second.type('/exit\r');
    const ended = await second.finished;
    expect(ended.exitCode, ended.output).toBe(0);
    expect(asked()).toBe(1);
  });
}

longTest('the list of conversations says which one has an unfinished file', async ({ machine }) => {
  const provider = await machine.provider(STALLED);
  const env = { WRITE_SESSION_SAVE_MS: '50' };
  const first = machine.terminal(['chat', ...at(provider)], { env });
  await first.waitForOutput('orion 0.');
  first.type('Write a complete guide to everything.\r');
  await machine.savedSession(5000);
  first.kill('SIGKILL');
  await first.finished;

  const second = machine.terminal(['chat', ...at(provider)], { env });
  await second.waitForOutput('Go on with it?');
  second.type('n');
  await second.waitForScreen((screen) => !screen.rows.join('\n').includes('(d)iscard'));
  second.type('/resume\r');
  const { rows } = await second.waitForScreen('type to filter');
  expect(rows.find((row) => row.includes('complete guide'))).toMatch(
    /Write a complete guide to everything\. {2}.* ago, \d+ messages?, 1 unfinished$/u,
  );
  second.type('\u001B');
  await second.waitForScreen((screen) => !screen.rows.join('\n').includes('type to filter'));
  second.type('\u0004');
  await second.finished;
});
