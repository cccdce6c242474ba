/** Small file systems in memory, for disks that are full, and what stands in for them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const QUIET = { stdio: 'ignore' } as const;

/** Whether this user may mount them here. */
export const CAN_MOUNT: boolean = canMount();

/** A place for a folder that becomes full while a command writes into it. Nobody needs a privilege for it. */
export type TightDisk = {
  readonly name: string;
  /** More than these bytes do not go into one file. */
  readonly bytes: number;
  /** What the command is started by, which alone sees it. */
  readonly startedBy: (folder: string) => readonly string[];
  /** What refuses more text, in the words of the runtime. */
  readonly refusal: RegExp;
  readonly makeRoom: (folder: string, pid: number) => void;
};

const OF_ITS_OWN = ['unshare', '--user', '--map-root-user', '--mount', '--'];
const KIB = 1024;

const TIGHT_DISKS: readonly TightDisk[] = [
  {
    name: 'a small tmpfs in a user namespace',
    bytes: 64 * KIB,
    startedBy: (folder) => {
      mkdirSync(folder, { recursive: true });
      const mounted = 'mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"';
      return [...OF_ITS_OWN, 'sh', '-c', mounted, folder];
    },
    refusal: /DISK_FULL/u,
    makeRoom(folder, pid) {
      const entered = ['--preserve-credentials', '--user', '--mount', '--target', String(pid)];
      // By its name and place, and not by the options that the system shows of it: another user reads them otherwise.
      const enlarged = ['mount', '-o', 'remount,size=64m', 'tmpfs', folder];
      execFileSync('nsenter', [...entered, '--', ...enlarged], QUIET);
    },
  },
  {
    // Of every file of the command: those of its store stay far below.
    name: 'a limit to the size of a file',
    bytes: 2048 * KIB,
    startedBy: () => ['prlimit', `--fsize=${2048 * KIB}:`],
    refusal: /EFBIG/u,
    makeRoom: (_folder, pid) =>
      void execFileSync('prlimit', ['--pid', String(pid), '--fsize=unlimited:'], QUIET),
  },
];

/** Those that can be had here; none where the system knows of neither. */
export const tightDisks: readonly TightDisk[] = TIGHT_DISKS.filter(({ startedBy }) => {
  const folder = mkdtempSync(join(tmpdir(), 'orion-e2e-tight-'));
  const [program = '', ...words] = startedBy(folder);
  const tried = spawnSync(program, [...words, 'true'], QUIET);
  rmSync(folder, { recursive: true, force: true });
  return tried.status === 0;
});

/** A file system of its own, mounted at this folder, which is made. */
export async function withDisk(
  folder: string,
  options: string,
  step: (folder: string) => Promise<void>,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  mount(folder, options);
  try {
    await step(folder);
  } finally {
    unmount(folder);
  }
}

function mount(folder: string, options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
}

function unmount(folder: string): void {
  execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
}

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'orion-e2e-mount-'));
  try {
    mount(folder, 'size=64k');
    unmount(folder);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
