import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  realpath,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The command as it is built here. */
export const OWN_COMMAND: string = fileURLToPath(
  new URL('../../../apps/cli/dist/main.js', import.meta.url),
);
/** How often the memory of the command is looked at. */
const LOOK_MS = 20;

/** One machine: a workspace, a home, a folder that is neither, and a key that must not get anywhere. */
export type Site = {
  /** The command that is attacked. */
  readonly command: string;
  readonly root: string;
  readonly workspace: string;
  readonly home: string;
  readonly outside: string;
  readonly temporary: string;
  /** The key of the person; found anywhere but in their environment, it has leaked. */
  readonly key: string;
  readonly environment: Readonly<Record<string, string>>;
  plant(path: string, content: string | Uint8Array, mode?: number): Promise<string>;
  run(words: readonly string[], more?: RunMore): Promise<Ended>;
  /** Everything below the root with what it holds, so that two looks can be compared. */
  look(): Promise<ReadonlyMap<string, string>>;
  dispose(): Promise<void>;
};

export type RunMore = {
  readonly env?: Readonly<Record<string, string>>;
  readonly limitMs: number;
};

export type Ended = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
  /** The most memory it had, in bytes; null where that cannot be seen. */
  readonly memory: number | null;
  readonly tooLate: boolean;
};

export async function createSite(command: string): Promise<Site> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'orion-hostile-')));
  const [workspace, home, outside, temporary] = ['workspace', 'home', 'outside', 'tmp'].map(
    (name) => join(root, name),
  ) as [string, string, string, string];
  for (const folder of [workspace, home, outside, temporary]) await mkdir(folder, { mode: 0o755 });
  await writeFile(join(outside, 'secret.txt'), 'a secret of somebody\n');
  // In no form that keys are known to have.
  const key = randomBytes(24).toString('hex');
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_CACHE_HOME: join(home, '.cache'),
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    OPENAI_API_KEY: key,
    WRITE_SESSION_IDLE_MS: '20',
    ORION_SILENCE_MS: '1500',
  };
  return {
    command,
    root,
    workspace,
    home,
    outside,
    temporary,
    key,
    environment,
    async plant(path, content, mode) {
      const place = join(root, path);
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, content);
      if (mode !== undefined) await chmod(place, mode);
      return place;
    },
    run: (words, more) =>
      runCommand(
        [command, ...words],
        workspace,
        { ...environment, ...more?.env },
        more?.limitMs ?? 60_000,
      ),
    look: () => look(root),
    async dispose() {
      // Modes and owners may be in the way for anyone but root.
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function runCommand(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  limitMs: number,
): Promise<Ended> {
  const began = performance.now();
  const child = spawn(process.execPath, words, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  // What a hostile answer makes it print is bounded here, too.
  const keep = (text: string, more: string): string =>
    text.length < 4_000_000 ? text + more : text;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout = keep(stdout, text)));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = keep(stderr, text)));
  let memory: number | null = null;
  const looking = setInterval(() => {
    memory = Math.max(memory ?? 0, peakMemory(child.pid) ?? 0) || memory;
  }, LOOK_MS);
  let tooLate = false;
  const limit = setTimeout(() => {
    tooLate = true;
    child.kill('SIGKILL');
  }, limitMs);
  const [exitCode, signal] = await new Promise<[number | null, NodeJS.Signals | null]>(
    (resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, by) => resolve([code, by]));
    },
  );
  clearInterval(looking);
  clearTimeout(limit);
  const milliseconds = performance.now() - began;
  return { exitCode, signal, stdout, stderr, milliseconds, memory, tooLate };
}

/** As the kernel has counted it for the process; null elsewhere than on Linux. */
function peakMemory(pid: number | undefined): number | null {
  if (pid === undefined || process.platform !== 'linux') return null;
  try {
    const [, kibibytes] =
      /^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kibibytes === undefined ? null : Number(kibibytes) * 1024;
  } catch {
    return null;
  }
}

const LARGEST_HASHED = 16 * 1024 * 1024;

async function look(root: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  async function visit(folder: string, depth: number): Promise<void> {
    const names = await readdir(folder).catch(() => []);
    // A tree that is itself an attack is looked at no further than an attack can hide something.
    for (const name of names.slice(0, 5000)) {
      const path = join(folder, name);
      const stats = await lstat(path).catch(() => null);
      if (stats === null) continue;
      const own = `${(stats.mode & 0o7777).toString(8)} ${stats.uid}`;
      if (stats.isDirectory()) {
        found.set(relative(root, path), `folder ${own}`);
        if (depth < 40) await visit(path, depth + 1);
      } else if (stats.isSymbolicLink()) {
        found.set(relative(root, path), `link ${await readlink(path)}`);
      } else if (stats.isFile()) {
        const content = stats.size > LARGEST_HASHED ? 'large' : await hashOf(path);
        found.set(relative(root, path), `file ${own} ${stats.size} ${content}`);
      } else {
        found.set(relative(root, path), 'other');
      }
    }
  }
  await visit(root, 0);
  return found;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  } catch {
    return 'unreadable';
  }
  return hash.digest('hex');
}

/** A large file in the workspace that takes no room. */
export async function makeSparse(site: Site, path: string, bytes: number): Promise<void> {
  await truncate(await site.plant(`workspace/${path}`, ''), bytes);
}

export function makePipe(path: string): void {
  execFileSync('mkfifo', [path]);
}
