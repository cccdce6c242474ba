import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { makeFolder } from './installation.ts';
import type { Installation } from './installation.ts';
import { startMovableAddress } from './movable-address.ts';
import { ENVIRONMENT, placeOf, ServerProcess } from './server-process.ts';
import type { TestServer } from './server-process.ts';

export type StandbyOptions = {
  /** A commit of the primary is answered once the standby has it. */
  readonly isSynchronous?: boolean;
};

export type TestStandby = TestServer & {
  /** It receives nothing more. What the primary does not wait for is lost when it is promoted. */
  holdBack(): void;
  /** It follows nobody any more, and is written to. */
  promote(): Promise<void>;
};

const FOLLOWS = ['ready to accept read-only connections', 'started streaming WAL'];

/** A copy of the data of a server that is stopped, which follows it from there. */
export async function startStandby(
  primary: {
    readonly installation: Installation;
    readonly data: string;
    readonly port: number;
    readonly name: string;
  },
  { port, startPrimary }: { readonly port: number; readonly startPrimary: () => Promise<void> },
): Promise<TestStandby> {
  const { installation, name } = primary;
  const { bin, user } = installation;
  const options = { ...user, cwd: '/', env: ENVIRONMENT };
  const data = makeFolder(installation, name);
  const copied = spawnSync('cp', ['-Rp', `${primary.data}/.`, data], options);
  if (copied.status !== 0) throw new Error(`The data was not copied: ${String(copied.stderr)}`);
  const link = await startMovableAddress(primary.port);
  writeFileSync(join(data, 'standby.signal'), '');
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${link.port} user=postgres application_name=${name}'\n`,
  );
  const server = new ServerProcess({ installation, data, port });
  await startPrimary();
  await server.start({ marks: FOLLOWS });
  let marks: readonly string[] | undefined = FOLLOWS;
  return {
    ...placeOf(port),
    kill: () => server.end('KILL'),
    restart: () => server.startAgain(marks === undefined ? {} : { marks }),
    async stop() {
      await server.end('STOP');
      await link.close();
    },
    holdBack: () => link.hold(),
    async promote() {
      const promoting = spawn(join(bin, 'pg_ctl'), ['promote', '-w', '-D', data], {
        ...options,
        stdio: 'ignore',
      });
      const [code] = (await once(promoting, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`The standby was not promoted: ${String(code)}`);
      marks = undefined;
    },
  };
}
