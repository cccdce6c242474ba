import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';

import type { Installation } from './installation.ts';

/** A server on loopback. */
export type TestServer = {
  readonly url: string;
  readonly port: number;
  /** Kills it at once, as a power failure of the server would. */
  kill(): Promise<void>;
  /** The same data on the same port again, after `kill`. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

export type ServerOptions = {
  readonly installation: Installation;
  readonly data: string;
  readonly port: number;
};

export type Start = {
  readonly settings?: Readonly<Record<string, string>>;
  /** What its log says once it is ready. */
  readonly marks?: readonly string[];
};

export const ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
const READY = ['ready to accept connections'];
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  shared_buffers: '16MB',
  // A server of ours takes up to nine, and there may be as many servers as somebody wants to try.
  max_connections: '400',
};
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

/** One server with its data; it may be ended and started again. */
export class ServerProcess {
  readonly #options: ServerOptions;
  #keeper: ChildProcess | null = null;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  async start({ settings = {}, marks = READY }: Start = {}): Promise<void> {
    const { installation, data, port } = this.#options;
    const { bin, user } = installation;
    const given = Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    const command = [join(bin, 'postgres'), '-D', data, '-p', String(port), ...given];
    const keeper = spawn('/bin/sh', ['-c', KEEPER, 'keeper', ...command], {
      ...user,
      cwd: '/',
      env: ENVIRONMENT,
      stdio: ['pipe', 'ignore', 'pipe'],
      // What a terminal tells its programs, such as that it is closed, would end the keeper alone.
      detached: true,
    });
    this.#keeper = await untilReady(keeper, marks);
  }

  /** The processes of a killed server hold its memory until they notice its death, a moment later. */
  async startAgain(start: Start): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.start(start);
        return;
      } catch (error) {
        if (attempt === RESTART_ATTEMPTS) throw error;
      }
      await new Promise((resolve) => {
        setTimeout(resolve, RESTART_PAUSE_MS);
      });
    }
  }

  async end(how: 'KILL' | 'STOP'): Promise<void> {
    const keeper = this.#keeper;
    if (keeper === null || keeper.exitCode !== null) return;
    const exited = new Promise((resolve) => keeper.once('exit', resolve));
    keeper.stdin?.end(`${how}\n`);
    await exited;
  }
}

export function placeOf(port: number): Pick<TestServer, 'url' | 'port'> {
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, port };
}

function untilReady(keeper: ChildProcess, marks: readonly string[]): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    let log = '';
    const isReady = (): boolean => marks.every((mark) => log.includes(mark));
    keeper.stderr?.setEncoding('utf8').on('data', (text: string) => {
      // Read to the end even if nobody needs it: a full pipe would block the server.
      if (isReady()) return;
      log += text;
      if (isReady()) resolve(keeper);
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
