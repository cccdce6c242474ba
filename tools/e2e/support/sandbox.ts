import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import {
  startScriptedProvider,
  type Script,
  type ScriptedProvider,
} from '@orion/llm-adapters/scripted';

import { commandEntry } from './entry.ts';
import { startCommand, type Finished, type RunOptions, type Running } from './run.ts';
import { startOnTerminal, type Terminal, type TerminalOptions } from './terminal.ts';
import { waitFor } from './wait.ts';

/** A write session as it lies on the disk. */
export type SessionOnDisk = {
  readonly id: string;
  readonly directory: string;
  /** Empty when there is no content file. */
  content(): Promise<Buffer>;
  /** Null when there is no such file. */
  json(name: string): Promise<Record<string, unknown> | null>;
};

/**
 * A machine of its own for one test: a workspace, a home folder, an environment with nothing of the real one, and
 * provider servers on loopback. `dispose` ends what the test started, and nothing else.
 */
export type Sandbox = {
  readonly root: string;
  readonly workspace: string;
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Runs the command in the workspace to its end. */
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  start(args: readonly string[], options?: RunOptions): Running;
  /** `orion run` with a prompt and this provider. */
  ask(
    provider: ScriptedProvider,
    args?: readonly string[],
    options?: RunOptions,
  ): Promise<Finished>;
  startAsking(provider: ScriptedProvider, args?: readonly string[], options?: RunOptions): Running;
  /** The command on a pseudo-terminal. */
  terminal(args: readonly string[], options?: OnTerminal): Terminal;
  /** Another program on one, such as the shell that the command is started from. */
  programOnTerminal(words: readonly [string, ...string[]], options?: OnTerminal): Terminal;
  /** What Node is started with to run the command. */
  entry(): readonly string[];
  /** A provider server; its requests are checked against the provider's schema when the test ends. */
  provider(script: Script): Promise<ScriptedProvider>;
  path(...parts: string[]): string;
  write(path: string, content: string | Uint8Array): Promise<void>;
  read(path: string): Promise<Buffer>;
  /** Null when there is no such file. */
  find(path: string): Promise<Buffer | null>;
  exists(path: string): Promise<boolean>;
  sessions(): Promise<readonly SessionOnDisk[]>;
  /** Waits for the only session, and until it has saved that many bytes. */
  savedSession(bytes: number): Promise<SessionOnDisk>;
  /** A turn that SIGKILL ends once its session has saved so many bytes. */
  askUntilKilled(
    provider: ScriptedProvider,
    bytes: number,
    args?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<{ readonly session: SessionOnDisk; readonly killed: Finished }>;
  attic(): Promise<readonly string[]>;
  dispose(): Promise<void>;
};

type OnTerminal = Pick<RunOptions, 'cwd' | 'env'> &
  Pick<TerminalOptions, 'columns' | 'rows' | 'above'>;

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;

export async function createSandbox(): Promise<Sandbox> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'orion-e2e-')));
  const workspace = join(root, 'workspace');
  const home = join(root, 'home');
  await mkdir(workspace);
  await mkdir(join(home, '.config'), { recursive: true });
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    LANG: 'C.UTF-8',
    // The home lies in the temporary folder, where the command keeps nothing that it has compiled.
    NODE_COMPILE_CACHE: join(tmpdir(), 'orion-e2e-compiled'),
    WRITE_SESSION_IDLE_MS: '50',
  };
  const commands: Running[] = [];
  const terminals: Terminal[] = [];
  const providers: ScriptedProvider[] = [];
  const sessionsFolder = join(workspace, '.orion', 'logs', 'write_sessions');

  const find = (path: string): Promise<Buffer | null> =>
    readFile(join(workspace, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });

  function start(args: readonly string[], options: RunOptions = {}): Running {
    const command = startCommand(args, { cwd: workspace, environment, ...options });
    commands.push(command);
    return command;
  }

  function programOnTerminal(
    words: readonly [string, ...string[]],
    { cwd = workspace, env = {}, ...screen }: OnTerminal = {},
  ): Terminal {
    const terminal = startOnTerminal(words, {
      cwd,
      environment: { ...environment, ...env },
      ...screen,
    });
    terminals.push(terminal);
    return terminal;
  }

  const savedSession = (bytes: number): Promise<SessionOnDisk> =>
    waitFor(`a session with ${bytes} saved bytes`, async () => {
      const [session, ...others] = await sessions();
      if (session === undefined || others.length > 0) return null;
      const state = await session.json('state.json');
      return Number(state?.['buffer_size'] ?? -1) >= bytes ? session : null;
    });

  async function sessions(): Promise<readonly SessionOnDisk[]> {
    const names = await readdir(sessionsFolder).catch(() => []);
    return names
      .filter((name) => SESSION_ID.test(name))
      .map((id) => sessionAt(join(sessionsFolder, id), id));
  }

  return {
    root,
    workspace,
    home,
    environment,
    run: (args, options) => start(args, options).finished,
    start,
    ask: (provider, args = [], options = {}) =>
      start(['run', 'Write it.', ...at(provider), ...args], options).finished,
    startAsking: (provider, args = [], options = {}) =>
      start(['run', 'Write it.', ...at(provider), ...args], options),
    terminal: (args, options) =>
      programOnTerminal([process.execPath, ...commandEntry(), ...args], options),
    programOnTerminal,
    entry: commandEntry,
    async provider(script) {
      const provider = await startScriptedProvider(script);
      providers.push(provider);
      return provider;
    },
    path: (...parts) => join(workspace, ...parts),
    async write(path, content) {
      await mkdir(dirname(join(workspace, path)), { recursive: true });
      await writeFile(join(workspace, path), content);
    },
    async read(path) {
      const content = await find(path);
      if (content === null) throw new Error(`there is no ${path}`);
      return content;
    },
    find,
    exists: async (path) => (await stat(join(workspace, path)).catch(() => null)) !== null,
    sessions,
    savedSession,
    async askUntilKilled(provider, bytes, args = [], env = {}) {
      const writer = start(['run', 'Write it.', ...at(provider), ...args], {
        env: { WRITE_SESSION_SAVE_MS: '50', ...env },
      });
      const session = await savedSession(bytes);
      writer.kill('SIGKILL');
      return { session, killed: await writer.finished };
    },
    attic: () => readdir(join(workspace, '.orion', 'attic')).catch(() => []),
    async dispose() {
      for (const command of commands) command.kill('SIGKILL');
      for (const terminal of terminals) terminal.kill('SIGKILL');
      await Promise.allSettled([
        ...commands.map((command) => command.finished),
        ...terminals.map((terminal) => terminal.finished),
      ]);
      await Promise.all(providers.map((provider) => provider.close()));
      await rm(root, { recursive: true, force: true });
      const violations = providers.flatMap((provider) =>
        provider.requests.flatMap((request) => request.violations),
      );
      if (violations.length > 0) {
        throw new Error(`a strict provider refuses these requests: ${violations.join('; ')}`);
      }
    },
  };
}

/** The options that lead to a provider. */
export function at(provider: ScriptedProvider): readonly string[] {
  return ['--base-url', provider.url, '--model', 'scripted'];
}

function sessionAt(directory: string, id: string): SessionOnDisk {
  return {
    id,
    directory,
    content: () => readFile(join(directory, 'content.txt')).catch(() => Buffer.alloc(0)),
    async json(name) {
      const text = await readFile(join(directory, name), 'utf8').catch(() => null);
      return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
    },
  };
}
