import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** A terminal that is written to without waiting for its reader. */
export type TerminalDevice = {
  /** Which terminal it is: two outputs that lead to the same one have the same. */
  readonly id: number;
  /** How many bytes it took, 0 when it takes none now. Throws when it is gone. */
  write(bytes: Uint8Array): number;
};

/**
 * Node writes to a terminal with calls that block: while its reader pauses (Ctrl-S, a remote shell that sleeps)
 * nothing else happens in the process. So the terminal is opened once more, for this process alone and without
 * blocking. Null where that is not possible; ordinary writes then have to do.
 */
export function openTerminal(descriptor: number): TerminalDevice | null {
  if (process.platform === 'win32') return null;
  let opened: number | null = null;
  try {
    const { rdev } = fstatSync(descriptor);
    const path = terminalPath(descriptor, rdev);
    if (path === null) return null;
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    opened = openSync(path, O_WRONLY | O_NONBLOCK | O_NOCTTY);
    if (fstatSync(opened).rdev !== rdev) throw new Error('another terminal stands there now');
    const fd = opened;
    return { id: rdev, write: (bytes) => writeSome(fd, bytes) };
  } catch {
    if (opened !== null) closeSync(opened);
    return null;
  }
}

function terminalPath(descriptor: number, rdev: number): string | null {
  // Leads to the very terminal, also to one that has no name here or is not the controlling one.
  if (process.platform === 'linux') return `/proc/self/fd/${descriptor}`;
  const name = readdirSync('/dev').find(
    (each) => /^tty./u.test(each) && statSync(join('/dev', each)).rdev === rdev,
  );
  return name === undefined ? null : join('/dev', name);
}

function writeSome(fd: number, bytes: Uint8Array): number {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN' || code === 'EINTR') return 0;
    throw error;
  }
}
