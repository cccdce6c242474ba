import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { PausedSession, WriteReceipt } from '@orion/contracts';

import type { Ended, Lane } from './lane.ts';

const COMMAND = fileURLToPath(new URL('../../../apps/cli/dist/main.js', import.meta.url));
const LIMIT_MS = 60_000;

/** The built command as a child process, for each turn and each printed command. */
export async function openCommandLane(url: string): Promise<Lane> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'orion-manners-')));
  const workspace = join(root, 'workspace');
  const home = join(root, 'home');
  await mkdir(workspace);
  await mkdir(home);
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    LANG: 'C.UTF-8',
    NODE_COMPILE_CACHE: join(tmpdir(), 'orion-manners-compiled'),
    WRITE_SESSION_IDLE_MS: '1',
  };
  const orion = (words: readonly string[]): Promise<Ended> =>
    runCommand([...words, '--json'], workspace, environment);
  return {
    workspace,
    run: ({ name }) => orion(['run', 'Write it.', '--base-url', url, '--model', name]),
    command: orion,
    clear: async () => {
      await rm(workspace, { recursive: true, force: true });
      await mkdir(workspace);
    },
    close: () => rm(root, { recursive: true, force: true }),
  };
}

async function runCommand(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const child = spawn(process.execPath, [COMMAND, ...words], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  const { receipts = [], paused = [] } = (last.startsWith('{') ? JSON.parse(last) : {}) as {
    readonly receipts?: readonly WriteReceipt[];
    readonly paused?: readonly PausedSession[];
  };
  return { exitCode, receipts, paused, words: stderr };
}
