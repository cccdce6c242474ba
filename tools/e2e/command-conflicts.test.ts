// @module-tag long
import { expect } from 'vitest';

import type { Behaviour } from '@orion/llm-adapters/scripted';

import { lastToolMessage } from './support/requests.ts';
import { at } from './support/sandbox.ts';
import type { Sandbox } from './support/sandbox.ts';
import { beginCall, LAST_WORD, numbered, writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';

/** Hazard: a command changes a file that is being written, and one of the two texts is lost without a word. R281. */

const TEXT = numbered('line', 1, 40);

function lineCall(command: string, toolResults = 0): Behaviour {
  return {
    name: command,
    when: { toolResults, toolChoice: 'auto' },
    reply: { toolCalls: [{ name: 'run_command', arguments: { command } }] },
  };
}

/** A turn of another process in which the model runs this line. */
async function runLine(machine: Sandbox, command: string): Promise<void> {
  const provider = await machine.provider({ behaviours: [lineCall(command), LAST_WORD] });
  const ended = await machine.ask(provider, ['--recover', 'no', '--approve-commands', 'auto']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(JSON.parse(lastToolMessage(provider.requests))).toMatchObject({ exit_code: 0 });
}

for (const [row, [operation, before, line, after, code]] of (
  [
    ['create', null, 'echo by command > a.txt', 'by command\n', 'FILE_EXISTS'],
    ['overwrite', 'old\n', 'echo by command >> a.txt', 'old\nby command\n', 'TARGET_CHANGED'],
    ['overwrite', 'old\n', 'rm a.txt', null, 'TARGET_CHANGED'],
    [
      'append',
      'old\n',
      'mv a.txt b.txt; echo by command > a.txt',
      'by command\n',
      'TARGET_CHANGED',
    ],
  ] as const
).entries()) {
  const title = `${operation} while a line changes the file (${line}): it waits, and both texts are there`;
  test.concurrent(title, { tags: row < 2 ? [] : ['long'] }, async ({ machine }) => {
    if (before !== null) await machine.write('a.txt', before);
    const provider = await machine.provider(
      writeDocument(
        { target: 'a.txt', content: TEXT },
        { operation, shape: { chunk: 8, eventsPerSecond: 20 } },
      ),
    );
    const writing = machine.startAsking(provider, ['--json'], {
      env: { WRITE_SESSION_SAVE_MS: '50' },
    });
    const session = await machine.savedSession(8);
    // The line runs while the file is written, however fast this machine is.
    writing.kill('SIGSTOP');
    await runLine(machine, line);
    writing.kill('SIGCONT');

    const ended = await writing.finished;
    expect(ended.exitCode, ended.stderr).toBe(3);
    expect(ended.result().paused).toMatchObject([{ code, target_file: 'a.txt' }]);
    expect(String(await machine.find('a.txt'))).toBe(String(after));
    expect(String(await session.content())).toBe(TEXT);

    const decided = await machine.run([
      'recover-session',
      session.id,
      '--finalize',
      '--on-conflict=overwrite',
    ]);
    expect(decided.exitCode, decided.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toContain(TEXT);
    if (after === null) return;
    const undone = await machine.run(['undo']);
    expect(undone.exitCode, undone.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe(after);
  });
}

test.concurrent('a session that was killed is recovered beside what a line has written since', async ({
  machine,
}) => {
  await machine.write('a.txt', 'old\n');
  const provider = await machine.provider(
    writeDocument(
      { target: 'a.txt', content: TEXT },
      { operation: 'overwrite', faults: [{ kind: 'stall', reply: 1, at: { lines: 10 } }] },
    ),
  );
  const { session } = await machine.askUntilKilled(provider, 40);
  await runLine(machine, 'echo by command > a.txt');

  const recovered = await machine.run(['recover-session', session.id, ...at(provider)]);
  expect(recovered.exitCode, recovered.stderr).toBe(3);
  expect(recovered.stderr).toContain('TARGET_CHANGED');
  expect(String(await machine.read('a.txt'))).toBe('by command\n');

  const decided = await machine.run([
    'recover-session',
    session.id,
    '--finalize',
    '--on-conflict=keep-both',
  ]);
  expect(decided.exitCode, decided.stderr).toBe(0);
  const beside = /a\.orion-[0-9a-f]+\.txt/u.exec(decided.stdout + decided.stderr)?.[0] ?? '';
  expect(String(await machine.read(beside))).toBe(TEXT);
  expect(String(await machine.read('a.txt'))).toBe('by command\n');
});

test.concurrent('what a line has left running changes no file that is written after it', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [
      { name: 'text', when: { toolChoice: 'none' }, reply: { text: `${TEXT}DONE` } },
      lineCall(
        '(sleep 2; echo late > a.txt) > /dev/null 2>&1 & setsid sh -c "sleep 2; echo late > a.txt" > /dev/null 2>&1 &',
      ),
      beginCall({ target_file: 'a.txt' }, 1),
      lineCall('sleep 2.5; cat a.txt', 2),
      LAST_WORD,
    ],
  });
  const ended = await machine.ask(provider, ['--approve-commands', 'auto', '--sandbox', 'off']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(JSON.parse(lastToolMessage(provider.requests))).toMatchObject({ output: TEXT });
  expect(String(await machine.read('a.txt'))).toBe(TEXT);
});

test.concurrent('a write that begins after a line is no conflict, and undo brings back what the line made', async ({
  machine,
}) => {
  await machine.write('a.txt', 'one\ntwo\n');
  const provider = await machine.provider({
    behaviours: [
      { name: 'text', when: { toolChoice: 'none' }, reply: { text: 'new\nDONE' } },
      lineCall('printf "other\\n" > a.txt'),
      beginCall({ target_file: 'a.txt', operation: 'overwrite' }, 1),
      lineCall('cat a.txt', 2),
      LAST_WORD,
    ],
  });
  const ended = await machine.ask(provider, ['--approve-commands', 'auto']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe('new\n');
  expect((await machine.run(['undo'])).exitCode).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe('other\n');
});
