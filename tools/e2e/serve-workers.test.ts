// Several processes serve at one port under one parent: one that is killed is replaced, and none outlives the parent.
import { readFile } from 'node:fs/promises';

import { startPostgres } from '@orion/testkit/postgres';
import { expect } from 'vitest';

import { serve } from './support/serve.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const PROVIDER = ['--model', 'none', '--base-url', 'http://127.0.0.1:1'];

test.concurrent('workers without a Postgres are refused', async ({ machine }) => {
  const args = ['serve', '--port', '0', '--workers', '2', ...PROVIDER];
  const { exitCode, stdout, stderr } = await machine.run(args);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toContain('Set DATABASE_URL to a Postgres');
});

test.concurrent('a killed worker is replaced, and the parent takes all along', async ({
  machine,
}) => {
  const postgres = await startPostgres();
  try {
    const served = await serve(machine, ['--workers', '2'], {
      env: { DATABASE_URL: postgres.url },
    });
    const seen = (): ReadonlySet<string> =>
      new Set(served.log().map(({ process: name }) => String(name)));
    /** The port goes round: as many requests as there are workers reach each of them. */
    const see = (count: number): Promise<unknown> =>
      waitFor(`${count} workers`, async () => {
        const { status } = await served.ask('/health/ready', { token: null });
        expect(status).toBe(200);
        return seen().size === count;
      });
    await see(2);
    const [one = ''] = seen();
    // Of two requests one is handed to the worker that has stopped, and breaks off with it.
    process.kill(Number(one.slice('orion-'.length)), 'SIGSTOP');
    const asked = [1, 2].map(() => served.ask('/health/ready', { token: null }));
    expect(await Promise.any(asked)).toMatchObject({ status: 200 });
    process.kill(Number(one.slice('orion-'.length)), 'SIGKILL');
    const answers = await Promise.allSettled(asked);
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await served.running.waitForStderr('ended (SIGKILL)');
    // The other one answers meanwhile.
    await see(3);
    const announced = String(await machine.read('.orion/server/server.json'));
    expect(announced).toContain(String(served.running.pid));
    served.running.kill('SIGKILL');
    await served.running.finished;
    for (const name of [...seen()].filter((each) => each !== one))
      await waitFor(`the end of ${name}`, () => !isThere(Number(name.slice('orion-'.length))));
  } finally {
    await postgres.stop();
  }
});

longTest('a worker that stops leaves the address to the others', async ({ machine }) => {
  const postgres = await startPostgres();
  try {
    const env = { DATABASE_URL: postgres.url };
    const { running } = await serve(machine, ['--workers', '2'], { env });
    const announced = String(await machine.read('.orion/server/server.json'));
    process.kill((await childrenOf(running.pid))[0] ?? 0, 'SIGTERM');
    await running.waitForStderr('ended (exit code 0)');
    expect(String(await machine.read('.orion/server/server.json'))).toBe(announced);
    running.kill('SIGTERM');
    expect(await running.finished).toMatchObject({ exitCode: 0 });
  } finally {
    await postgres.stop();
  }
});

// A terminal tells all of its processes, and so does systemd.
test.concurrent.for(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'workers that stop while one of them starts have not failed (%s)',
  { tags: ['long'] },
  async (signal, { machine }) => {
    const postgres = await startPostgres();
    try {
      const env = { DATABASE_URL: postgres.url };
      const { running } = await serve(machine, ['--workers', '2'], { env });
      const before = await childrenOf(running.pid);
      process.kill(before[0] ?? 0, 'SIGKILL');
      const starting = await waitFor('another worker', async () =>
        (await childrenOf(running.pid)).find((pid) => !before.includes(pid)),
      );
      running.kill(signal);
      process.kill(starting, signal);
      expect(await running.finished).toMatchObject({ exitCode: 0 });
    } finally {
      await postgres.stop();
    }
  },
);

longTest('workers at an address that this machine lacks are refused', async ({ machine }) => {
  const place = ['--port', '0', '--host', '203.0.113.7'];
  const { exitCode, stderr } = await machine.run(
    ['serve', '--workers', '2', ...place, ...PROVIDER],
    {
      env: {
        DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
        ORION_SERVER_TOKEN: 'x'.repeat(32),
      },
    },
  );
  expect(exitCode).toBe(2);
  expect(stderr).toContain('Choose another port or address');
});

async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').map(Number);
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
