// @module-tag long
// Hazard: what is tried with `npm run cluster` does not work while workers are killed, or stays behind.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { askServer } from '@orion/testkit/http';
import { expect } from 'vitest';

import { at } from './support/sandbox.ts';
import type { Sandbox } from './support/sandbox.ts';
import { framesOf } from './support/serve.ts';
import type { Terminal } from './support/terminal.ts';
import { test } from './support/test.ts';
import { runTool } from './support/tool.ts';
import { waitFor } from './support/wait.ts';

const CLUSTER = fileURLToPath(new URL('../durability/cluster.ts', import.meta.url));
const SAID = 'A word and another one. '.repeat(30);
const SCRIPT = {
  shape: { chunk: 8, eventsPerSecond: 30 },
  behaviours: [{ reply: { text: SAID } }],
};

/** Started by a shell, which lives as long as it. */
async function start(machine: Sandbox, args: readonly string[] = []): Promise<Terminal> {
  const provider = await machine.provider(SCRIPT);
  const words = [process.execPath, '--conditions=@orion/source', CLUSTER, '--workers', '2'];
  const terminal = machine.programOnTerminal(
    ['/bin/sh', '-c', '"$@"; exit $?', 'sh', ...words, ...args, '--port', '0', ...at(provider)],
    { columns: 300 },
  );
  await terminal.waitForOutput('2 workers are ready.');
  return terminal;
}

/** All processes below one, by their ids. */
function below(pid: number): readonly number[] {
  const pairs = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/u).map(Number));
  const children = pairs.flatMap(([id = 0, parent]) => (parent === pid ? [id] : []));
  return children.flatMap((child) => [child, ...below(child)]);
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test.concurrent('a turn goes through, workers are killed, and Ctrl-C ends everything', async ({
  machine,
}) => {
  const terminal = await start(machine, ['--kill-every', '15']);
  const port = Number(/^http:\/\/127\.0\.0\.1:(\d+)/mu.exec(terminal.output())?.[1]);
  const token = /^Token: ([0-9a-f]+)/mu.exec(terminal.output())?.[1] ?? '';
  // A worker that is killed may be the one that is asked.
  const ask = (path: string, question: object): Promise<string | null> =>
    askServer(port, path, { token, ...question }).then(
      ({ text }) => text,
      () => null,
    );
  const turn = async (name: string): Promise<void> => {
    const json = { content: 'Talk.', conversationId: name };
    const headers = { 'idempotency-key': name, accept: 'application/json' };
    const posted = await waitFor(name, () => ask('/api/chat/messages', { json, headers }));
    const { turnId } = JSON.parse(posted) as { readonly turnId: string };
    const frames = await waitFor(`the end of ${name}`, async () => {
      const all = framesOf((await ask(`/api/turns/${turnId}/events`, {})) ?? '');
      return all.at(-1)?.event === 'done' && all;
    });
    expect(JSON.parse(frames.at(-1)?.data ?? '')).toMatchObject({
      status: 'complete',
      fullContent: SAID,
    });
    expect(frames.map(({ id }) => Number(id?.split('.')[0]))).toEqual(
      frames.map((_, index) => index + 1),
    );
  };
  await turn('turn-1');
  await terminal.waitForOutput('ended (SIGKILL)');

  const processes = below(terminal.pid);
  // Itself, the keeper of Postgres, Postgres and what belongs to it, and the workers that live.
  expect(processes.length).toBeGreaterThan(4);
  terminal.type('\u0003');
  await terminal.finished;
  for (const pid of processes) await waitFor(`the end of ${pid}`, () => !isThere(pid));
});

test.concurrent('it ends with the one that started it', async ({ machine }) => {
  const terminal = await start(machine);
  const processes = below(terminal.pid);
  terminal.kill('SIGKILL');
  for (const pid of processes) await waitFor(`the end of ${pid}`, () => !isThere(pid));
});

test.concurrent('all of it ends with it', async ({ machine }) => {
  const terminal = await start(machine);
  const [own = 0, ...processes] = below(terminal.pid);
  process.kill(own, 'SIGKILL');
  for (const pid of processes) await waitFor(`the end of ${pid}`, () => !isThere(pid));
});

test.concurrent.for([
  [['--workers', 'many'], '--workers must be a whole number from 1, not many'],
  [['--workers', '0'], '--workers must be a whole number from 1, not 0'],
  [['--kill-every', '0'], '--kill-every must be a whole number from 1, not 0'],
  [['--kill-every'], '--kill-every must be a whole number from 1, not true'],
  [['--no-such-option'], '--no-such-option'],
] as const)('%s is refused', async ([args, said], { onTestFinished }) => {
  const { exitCode, output } = await runTool({ onTestFinished }, 'durability/cluster.ts', args);
  expect(exitCode).toBe(2);
  expect(output).toContain(said);
});
