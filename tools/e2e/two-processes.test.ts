import { expect } from 'vitest';
import type { SessionListing } from '@orion/contracts';

import { prompts, sent } from './support/requests.ts';
import type { Sandbox } from './support/sandbox.ts';
import { BEGIN, numbered, writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';
import { failedCalls } from './support/outcomes.ts';
import { waitFor } from './support/wait.ts';

const TEXT = numbered('entry', 1, 6);

test(
  'A5: a live session belongs to its process; once that is dead exactly one recovery gets it',
  { tags: ['long'] },
  async ({ machine }) => {
    const provider = await machine.provider(
      writeDocument(
        { target: 'a.txt', content: TEXT },
        {
          // A line an event, slow enough that the third one comes after the save of two.
          shape: { chunk: 8, eventsPerSecond: 4 },
          // The recovery stalls too, so that the winner is alive when the other one asks.
          faults: [{ kind: 'stall', reply: [1, 2], at: { lines: 3 } }],
        },
      ),
    );
    const owner = machine.startAsking(provider, ['--json', '--show-content'], {
      env: { WRITE_SESSION_SAVE_LINES: '2', WRITE_SESSION_SAVE_MS: '60000' },
    });
    const session = await machine.savedSession(16);
    await waitFor('the third line', async () => (await session.content()).length === 24);
    // Two lines are durable; the third one the operating system has, but no sync covers it.
    expect(await session.json('state.json')).toMatchObject({ buffer_size: 16, line_count: 2 });

    expect(await listed(machine)).toMatchObject([
      { session_id: session.id, status: 'live', pid: owner.pid, target_file: 'a.txt' },
    ]);
    const table = await machine.run(['list-sessions']);
    expect(table.stdout).toContain(`live (pid ${owner.pid})`);
    const cleaned = await machine.run(['clean-sessions', '--all', '--yes']);
    expect(cleaned.exitCode).toBe(0);
    expect(cleaned.stdout).toContain('0 write sessions');
    expect(await machine.attic()).toEqual([]);
    for (const more of [[], ['--finalize'], ['--discard']]) {
      const recovered = await machine.run(['recover-session', session.id, ...more]);
      expect(recovered.exitCode, more.join()).toBe(4);
      expect(recovered.stderr).toContain(
        `orion: SESSION_BUSY: The write session ${session.id} is in use by another process.\n`,
      );
    }
    const second = await machine.ask(provider, ['--json']);
    expect(failedCalls(second)).toEqual([[BEGIN, 'TARGET_LOCKED']]);
    expect(second.result().receipts).toEqual([]);
    expect(second.exitCode).toBe(0);
    expect(await machine.sessions()).toHaveLength(1);
    // R060: nothing was offered either.
    const third = machine.terminal([
      'run',
      'Write it.',
      '--base-url',
      provider.url,
      '--model',
      'm',
    ]);
    expect((await third.finished).output).not.toContain('Recover previous write session?');

    owner.kill('SIGKILL');
    await owner.finished;
    expect(await listed(machine)).toMatchObject([
      { session_id: session.id, status: 'orphan', lines: 3, bytes: 24 },
    ]);

    const before = provider.requests.length;
    const one = machine.start(['recover-session', session.id, '--json']);
    const other = machine.start(['recover-session', session.id, '--json']);
    const loser = await Promise.race([one.finished, other.finished]);
    expect(loser.exitCode).toBe(4);
    expect(loser.stderr).toMatch(
      /^orion: SESSION_BUSY: The write session \S+ is in use by another process\.$/mu,
    );
    const winner =
      (await Promise.race([one.finished, Promise.resolve(null)])) === null ? one : other;
    await waitFor('the request of the winner', () => provider.requests.length > before);
    expect(prompts(provider.requests).at(-1)).toContain('3 lines of a.txt are saved');
    winner.kill('SIGINT');
    const ended = await winner.finished;
    expect(ended.exitCode).toBe(3);
    expect(ended.result().paused).toMatchObject([{ session_id: session.id, lines: 3 }]);
    expect(sent(provider.requests)).toHaveLength(before + 1);
    expect(String(await session.content())).toBe(numbered('entry', 1, 3));
  },
);

test('several processes write different files of one workspace at the same time', async ({
  machine,
}) => {
  const names = ['one.txt', 'two.txt', 'three.txt'];
  const ended = await Promise.all(
    names.map(async (target) => {
      const provider = await machine.provider(
        writeDocument(
          { target, content: `${TEXT}${target}\n` },
          { shape: { eventsPerSecond: 60 } },
        ),
      );
      return machine.ask(provider, ['--json']);
    }),
  );
  expect(ended.map((one) => one.exitCode)).toEqual([0, 0, 0]);
  for (const name of names) {
    expect(String(await machine.read(name))).toBe(`${TEXT}${name}\n`);
  }
  expect(await machine.sessions()).toEqual([]);
});

async function listed(machine: Sandbox): Promise<readonly SessionListing[]> {
  const { stdout, exitCode } = await machine.run(['list-sessions', '--json']);
  expect(exitCode).toBe(0);
  return (JSON.parse(stdout) as { readonly sessions: readonly SessionListing[] }).sessions;
}
