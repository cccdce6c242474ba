import { randomUUID } from 'node:crypto';
import { lstat, realpath } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

import { OrionError } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { runInGroup } from './process-group.ts';

/** Where people keep keys, below the home folder. */
const SECRET_PLACES = [
  '.ssh',
  '.aws',
  '.azure',
  '.gnupg',
  '.kube',
  '.docker',
  '.password-store',
  '.terraform.d',
  '.config/gcloud',
  '.config/gh',
  '.config/op',
  '.config/hub',
  '.config/rclone',
  '.config/sops',
  '.local/share/keyrings',
  '.mozilla',
  '.config/google-chrome',
  '.config/chromium',
  '.npmrc',
  '.netrc',
  '.pypirc',
  '.git-credentials',
  '.vault-token',
  '.pgpass',
  '.my.cnf',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.config/git/credentials',
  '.bash_history',
  '.zsh_history',
  '.python_history',
  '.node_repl_history',
  '.psql_history',
  '.mysql_history',
  '.sqlite_history',
  '.rediscli_history',
  '.local/share/fish/fish_history',
  '.gradle/gradle.properties',
  '.m2/settings.xml',
  '.m2/settings-security.xml',
  '.claude',
  '.claude.json',
  '.codex',
  '.gemini',
];
/** What root needs for files of other users; a read-only mount holds against it. */
const ROOT_CAPABILITIES = ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER'];
const TRIAL_MS = 5_000;

/** What a command in the sandbox sees of the machine; all paths are absolute. */
export type SandboxScope = {
  /** The one folder that may be changed, besides a temporary folder of the command's own. */
  readonly root: string;
  /** Left out where they do not exist. */
  readonly hidden: readonly string[];
  /** Below `root`; left out where they do not exist. */
  readonly readOnly: readonly string[];
  readonly allowNetwork: boolean;
};

export type Sandbox =
  /** `program` works on this machine. */
  | { readonly kind: 'bubblewrap'; readonly program: string }
  | { readonly kind: 'none'; readonly because: string };

/** Where secrets lie in this home folder, whether or not they exist. */
export function secretPlaces(home: string): readonly string[] {
  return SECRET_PLACES.map((place) => join(home, place));
}

/**
 * Looks for bubblewrap and has it run a trial: where it is installed, user namespaces may still be forbidden. Rejects with
 * ABORTED, and with TOOL_FAILED for a trial that takes too long, which says nothing about the machine.
 *
 * @param path The variable `PATH`.
 */
export async function findSandbox(
  path: string,
  { root, clock, signal }: { root: string; clock: Clock; signal: AbortSignal },
): Promise<Sandbox> {
  if (process.platform !== 'linux') {
    return { kind: 'none', because: 'bubblewrap is available on Linux only' };
  }
  const program = await findProgram('bwrap', path);
  if (program === null) return { kind: 'none', because: 'bubblewrap is not installed' };
  const trial = await runInGroup({
    command: await sandboxed(program, { root, hidden: [], readOnly: [], allowNetwork: false }, [
      '/bin/sh',
      '-c',
      'exit 0',
    ]),
    isSandbox: true,
    cwd: root,
    environment: { PATH: path },
    id: randomUUID(),
    timeoutMs: TRIAL_MS,
    maxOutputBytes: 4_096,
    signal,
    clock,
  });
  if (trial.reason === 'aborted') {
    throw new OrionError({ code: 'ABORTED', message: 'The trial of the sandbox was cancelled.' });
  }
  if (trial.reason === 'timeout') {
    throw new OrionError({
      code: 'TOOL_FAILED',
      message: `The trial of the sandbox took longer than ${TRIAL_MS / 1_000} s: the machine may be busy.`,
      hint: 'Try again; the sandbox is tried anew.',
    });
  }
  if (trial.exitCode === 0) return { kind: 'bubblewrap', program };
  const said = trial.output.head.trim();
  return {
    kind: 'none',
    because: `bubblewrap does not work here${said === '' ? '' : `: ${said}`}`,
  };
}

/**
 * The command that runs another one inside of bubblewrap.
 *
 * 1. Everything is read-only but `root` and an empty `/tmp`; `/run` is empty, since a socket in it can be used however
 *    its folder is mounted.
 * 2. What is hidden is empty inside, but for `root` where that lies in it; what is read-only stays so below `root`.
 * 3. Processes and System V IPC outside cannot be seen; nor, unless it is allowed, any network, its abstract sockets included.
 * 4. Everything inside ends with bubblewrap, and bubblewrap with this process.
 * 5. Nothing inside can change these mounts: of the capabilities that root would keep, only those to reach files are left.
 */
export async function sandboxed(
  program: string,
  scope: SandboxScope,
  command: readonly [string, ...string[]],
): Promise<[string, ...string[]]> {
  const { root } = scope;
  const all = await existing(scope.hidden);
  // What is empty has no place to cover; but below the workspace, which is put back into it.
  const isCovered = (path: string): boolean =>
    all.some((by) => isBelow(path, by.path) && (!isBelow(path, root) || isBelow(by.path, root)));
  const hidden = all.filter(({ path }) => path !== root && !isCovered(path));
  const around = hidden.filter(({ path }) => isBelow(root, path)).map(({ path }) => path);
  const readOnly = await existing(scope.readOnly);
  // As a workspace, the machine may be changed, but its devices, processes and sockets stay out.
  const isMachine = scope.root === '/';
  const machine = [
    isMachine ? '--bind' : '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
  ];
  const emptied = ['/tmp', '/run'].flatMap((path) => ['--tmpfs', path]);
  // Where names are resolved by a service, its configuration lies there.
  const network = scope.allowNetwork
    ? ['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve']
    : ['--unshare-net'];
  const own = isMachine ? [] : ['--bind', scope.root, scope.root];
  // A workspace in a hidden place is put back into it, without what lies beside it.
  const workspace = [
    ...around.flatMap((path) => ['--tmpfs', path]),
    ...own,
    ...around.flatMap((path) => ['--remount-ro', path]),
    '--chdir',
    root,
  ];
  const readable = readOnly.flatMap(({ path }) => ['--ro-bind', path, path]);
  const within = hidden.filter(({ path }) => !around.includes(path));
  const covered = within.flatMap(({ path, isFolder }) =>
    isFolder ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path],
  );
  const ends = ['--unshare-pid', '--unshare-ipc', '--die-with-parent'];
  const kept = process.getuid?.() === 0 ? ROOT_CAPABILITIES : [];
  const capabilities = ['--cap-drop', 'ALL', ...kept.flatMap((name) => ['--cap-add', name])];
  // In this order: a later mount covers an earlier one.
  const options = [
    machine,
    emptied,
    network,
    workspace,
    readable,
    covered,
    ends,
    capabilities,
  ].flat();
  return [program, ...options, '--', ...command];
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** Those that exist, resolved: a mount is made where a link leads. */
async function existing(
  paths: readonly string[],
): Promise<readonly { readonly path: string; readonly isFolder: boolean }[]> {
  const found = await Promise.all(
    paths.map(async (given) => {
      try {
        const path = await realpath(given);
        return [{ path, isFolder: (await lstat(path)).isDirectory() }];
      } catch {
        return [];
      }
    }),
  );
  return found.flat();
}

async function findProgram(name: string, path: string): Promise<string | null> {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const program = join(folder, name);
    const isFile = await lstat(await realpath(program).catch(() => program)).then(
      (status) => status.isFile(),
      () => false,
    );
    if (isFile) return program;
  }
  return null;
}
