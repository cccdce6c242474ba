/**
 * Set up before every unit test file (R244): a test that would write outside of the temporary folder, such as into the
 * repository or into the configuration of whoever runs it, is refused instead.
 *
 * Invariants
 * G1  Reading is free, and so is everything below the temporary folder, where the runner collects coverage, and where it
 *     keeps snapshots when it is told to update them.
 * G2  What cannot be judged by its path, an open file descriptor and what is reached through one, is let through: the
 *     directory that it stands for was opened or made by a call that was judged.
 */
import { constants, promises, realpathSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Which of its arguments each function writes to. */
const WRITTEN = {
  appendFile: [0],
  chmod: [0],
  copyFile: [1],
  cp: [1],
  link: [1],
  mkdir: [0],
  mkdtemp: [0],
  rename: [0, 1],
  rm: [0],
  rmdir: [0],
  symlink: [1],
  truncate: [0],
  unlink: [0],
  utimes: [0],
  writeFile: [0],
} as const;

const WRITING_FLAGS = constants.O_WRONLY | constants.O_RDWR | constants.O_CREAT;

const INSTALLED = Symbol.for('orion.temporary-writes');

type Functions = Record<string, (...args: unknown[]) => unknown>;

function refuseWritesElsewhere(): void {
  const functions = promises as unknown as Functions & { [INSTALLED]?: true };
  // Test files share a process.
  if (functions[INSTALLED] === true) return;
  for (const [name, positions] of Object.entries(WRITTEN)) {
    judge(functions, name, (args) => positions.map((position) => args[position]));
  }
  judge(functions, 'open', ([path, flags]) => (isWriting(flags) ? [path] : []));
  Object.defineProperty(functions, INSTALLED, { value: true });
  syncBuiltinESMExports();
}

function judge(
  functions: Functions,
  name: string,
  written: (args: readonly unknown[]) => readonly unknown[],
): void {
  const original = functions[name];
  if (original === undefined) throw new Error(`node:fs/promises has no ${name}`);
  functions[name] = async (...args) => {
    for (const path of written(args)) requireTemporary(path, name);
    return original.apply(promises, args);
  };
}

function isWriting(flags: unknown): boolean {
  if (typeof flags === 'number') return (flags & WRITING_FLAGS) !== 0;
  return typeof flags === 'string' && flags !== 'r' && flags !== 'rs';
}

function requireTemporary(given: unknown, name: string): void {
  const path = pathOf(given);
  if (path === null || isBelow('/proc', path)) return;
  // Devices; the memory that a machine offers as a folder there is none.
  if (isBelow('/dev', path) && !isBelow('/dev/shm', path)) return;
  if (TEMPORARY.some((folder) => isBelow(folder, path))) return;
  if (path.split(sep).includes('__snapshots__')) return;
  throw new Error(`R244: ${name} of ${path}: a test writes to the temporary folder only`);
}

/** The last is where the runner itself puts what it measures of the code. */
const TEMPORARY: readonly string[] = [
  resolve(tmpdir()),
  realpathSync(tmpdir()),
  resolve('coverage', '.tmp'),
];

function pathOf(given: unknown): string | null {
  if (given instanceof URL) return fileURLToPath(given);
  if (typeof given === 'string') return resolve(given);
  return Buffer.isBuffer(given) ? resolve(given.toString()) : null;
}

function isBelow(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below !== '..' && !below.startsWith(join('..', sep));
}

refuseWritesElsewhere();
