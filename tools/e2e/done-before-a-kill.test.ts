// @module-tag long
import { describe, expect } from 'vitest';

import { prompts } from './support/requests.ts';
import type { Sandbox, SessionOnDisk } from './support/sandbox.ts';
import { writeMessages } from './support/scripts.ts';
import { test } from './support/test.ts';

/**
 * Hazard: a DONE line with chat behind it is known only while its message is read, and the process ends before the
 * message does. The chat must not become part of the file without a question.
 */

const FILE = 'one\ntwo\n';
const SAVED = `${FILE}DONE\nI am finished now.\nmore `;
const PLAIN = 'Steps:\nDONE\nnot finished\nlast ';

/** A stream that stalls behind the DONE line, and a process that is stopped there. */
async function stopped(
  machine: Sandbox,
  signal: 'SIGINT' | 'SIGKILL',
  saved = SAVED,
  replies: readonly string[] = ['DONE'],
): Promise<SessionOnDisk> {
  const provider = await machine.provider(
    writeMessages('a.txt', [`${saved}and more`, ...replies], {
      faults: [{ kind: 'stall', at: { characters: saved.length } }],
    }),
  );
  const writer = machine.startAsking(provider, ['--json'], {
    env: { WRITE_SESSION_SAVE_MS: '50' },
  });
  const session = await machine.savedSession(Buffer.byteLength(saved));
  writer.kill(signal);
  const ended = await writer.finished;
  if (signal === 'SIGINT') {
    expect(ended.exitCode, ended.stderr).toBe(3);
    const commands = ended.result().paused[0]?.commands.join('\n') ?? '';
    if (saved === SAVED) expect(commands).toContain('--finalize --end-at 3');
    else expect(commands).not.toContain('--end-at');
  }
  return session;
}

for (const signal of ['SIGINT', 'SIGKILL'] as const) {
  const tags = signal === 'SIGKILL' ? [] : ['long'];
  describe(`R022, R023: ${signal} behind a DONE line`, { tags }, () => {
    test.concurrent('that a chat line follows: by hand, nothing is written until it is said where the file ends', async ({
      machine,
    }) => {
      const { id } = await stopped(machine, signal);

      const refused = await machine.run(['recover-session', id, '--finalize']);
      expect(refused.exitCode).not.toBe(0);
      expect(refused.stderr).toContain(
        'orion: QUESTION_OPEN: First decide where a.txt ends: add --end-at 3 or --answer done.\n',
      );
      expect(await machine.exists('a.txt')).toBe(false);

      const ended = await machine.run(['recover-session', id, '--finalize', '--end-at', '3']);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.txt'))).toBe(FILE);
    });

    test.concurrent('all of it, when a person says so, and the receipt names the line', async ({
      machine,
    }) => {
      const { id } = await stopped(machine, signal);
      const ended = await machine.run([
        'recover-session',
        id,
        '--finalize',
        '--answer',
        'done',
        '--json',
      ]);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(ended.result().receipts).toMatchObject([{ inner_done_lines: [3] }]);
      expect(String(await machine.read('a.txt'))).toBe(SAVED);
    });

    test.concurrent('a recovery by the model asks it first', async ({ machine }) => {
      const { id } = await stopped(machine, signal, SAVED, ['END 3']);
      const ended = await machine.run(['recover-session', id]);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(String(await machine.read('a.txt'))).toBe(FILE);
    });

    test.concurrent('that no chat line follows is listed in the receipt', async ({ machine }) => {
      const { id } = await stopped(machine, signal, PLAIN);
      const ended = await machine.run(['recover-session', id, '--finalize', '--json']);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect(ended.result().receipts).toMatchObject([{ inner_done_lines: [2] }]);
      expect(String(await machine.read('a.txt'))).toBe(PLAIN);
    });
  });
}

test.concurrent('R022: after a disconnect the model is asked too, before the file is written', async ({
  machine,
}) => {
  const provider = await machine.provider(
    writeMessages('a.txt', [`${SAVED}and more`, 'DONE', 'END 3'], {
      faults: [{ kind: 'disconnect', at: { characters: SAVED.length } }],
    }),
  );
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(prompts(provider.requests).at(-1)).toContain('Line 3 of what is saved for a.txt is DONE');
  expect(String(await machine.read('a.txt'))).toBe(FILE);
});
