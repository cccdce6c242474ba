import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'vitest';

import { at } from './support/sandbox.ts';
import type { Sandbox, SessionOnDisk } from './support/sandbox.ts';
import { writeMessages } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

/**
 * Hazard: a think block that opens the text is in the content file like any text, and the process ends before its
 * message does. It must reach the text that is kept beside the file, once, however often a recovery is killed too.
 */

const BLOCK = '<think>abc</think>\n\n';
const FILE = 'one\ntwo\n';
const REST = 'three\n';

/** A model that stops in the middle of a message, and the process that is killed there. */
async function killed(
  machine: Sandbox,
  saved: string,
  start: (provider: Awaited<ReturnType<Sandbox['provider']>>) => ReturnType<Sandbox['start']>,
  message = saved,
): Promise<SessionOnDisk> {
  const provider = await machine.provider(
    writeMessages('a.txt', [`${message}${REST}`], {
      faults: [{ kind: 'stall', at: { characters: message.length } }],
    }),
  );
  const writer = start(provider);
  const session = await machine.savedSession(Buffer.byteLength(saved));
  writer.kill('SIGKILL');
  await writer.finished;
  return session;
}

const SAVES = { env: { WRITE_SESSION_SAVE_MS: '50' } };

async function killedInTheFirstMessage(machine: Sandbox): Promise<string> {
  const { id } = await killed(machine, `${BLOCK}${FILE}`, (provider) =>
    machine.startAsking(provider, [], SAVES),
  );
  return id;
}

async function expectWritten(
  machine: Sandbox,
  args: readonly string[],
  file: string,
): Promise<void> {
  const ended = await machine.run(['recover-session', ...args, '--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe(file);
  const [receipt] = ended.result().receipts;
  expect(receipt).toMatchObject({ thinking_set_aside: true });
  expect(await readFile(receipt?.trailing ?? '', 'utf8')).toBe(BLOCK);
}

longTest('R275: by hand, it is kept beside the file', async ({ machine }) => {
  const id = await killedInTheFirstMessage(machine);
  await expectWritten(machine, [id, '--finalize'], FILE);
});

test.concurrent('R275: by the model, it is kept beside the file', async ({ machine }) => {
  const id = await killedInTheFirstMessage(machine);
  const provider = await machine.provider(writeMessages('a.txt', [`${FILE}${REST}DONE`]));
  await expectWritten(machine, [id, ...at(provider)], `${FILE}${REST}`);
});

longTest('R275: once, when the recovery is killed too', async ({ machine }) => {
  const id = await killedInTheFirstMessage(machine);
  await killed(
    machine,
    `${BLOCK}${FILE}${REST}`,
    (provider) => machine.start(['recover-session', id, ...at(provider)], SAVES),
    `${FILE}${REST}`,
  );
  await expectWritten(machine, [id, '--finalize'], `${FILE}${REST}`);
});

longTest('R275: what is copied out or put aside holds it where it came', async ({ machine }) => {
  const id = await killedInTheFirstMessage(machine);
  const copied = await machine.run(['recover-session', id, '--out', machine.path('copy.txt')]);
  expect(copied.exitCode, copied.stderr).toBe(0);
  expect(String(await machine.read('copy.txt'))).toBe(`${BLOCK}${FILE}`);

  const discarded = await machine.run(['recover-session', id, '--discard']);
  expect(discarded.exitCode, discarded.stderr).toBe(0);
  const attic = machine.path('.orion', 'attic', id);
  const [content] = (await readdir(attic)).filter((name) => name.startsWith('content'));
  expect(await readFile(`${attic}/${content ?? ''}`, 'utf8')).toBe(`${BLOCK}${FILE}`);

  await expectWritten(machine, [id, '--finalize'], FILE);
});
