// Several processes serve at one port under one parent: one that is killed is replaced, and none outlives the parent.
import { startPostgres } from '@orion/testkit/postgres';
import { expect } from 'vitest';

import { serve } from './support/serve.ts';
import { test } from './support/test.ts';
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

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
