import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';

import { enableCompileCache, possibleWorkspaces } from './start/compile-cache.ts';
import { leaveProcess } from './process/leave-process.ts';
import { VERSION } from './version.ts';

/** Stands for a current folder that was removed: a folder that there is not, so that a command says so. */
const GONE = '/(the current folder was removed)';

const EXIT_UNFINISHED = 1;

/**
 * The command's start, given the URL of the file that Node was started with. `--version` is answered before anything
 * else is loaded.
 */
export async function main(entry: string): Promise<void> {
  const argv = process.argv.slice(2);
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
      // A reader that went away had enough.
      if (code !== 'EPIPE') process.exitCode = EXIT_UNFINISHED;
    });
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const homeDirectory = orNull(homedir);
  const currentDirectory = orNull(() => process.cwd()) ?? GONE;
  // Before anything that is worth it is loaded.
  enableCompileCache({
    platform: process.platform,
    environment: process.env,
    homeDirectory,
    workspaces: possibleWorkspaces({ argv, environment: process.env, currentDirectory }),
    user: process.getuid?.(),
  });
  hideSqliteWarning();
  // Should every handle close before the command has ended, that is a failure and must not look like success. Not set
  // before: Commander takes a code that is already set for its own.
  process.once('beforeExit', () => {
    process.exitCode = EXIT_UNFINISHED;
  });
  const { runCommandLine } = await import('./command-line/run-command-line.ts');
  const exitCode = await runCommandLine({
    argv,
    environment: process.env,
    homeDirectory,
    currentDirectory,
    entry: fileURLToPath(entry),
  });
  // Not left to the end of all handles: an idle connection must not keep a finished command alive.
  leaveProcess(exitCode);
}

/** Node 22 warns on stderr that its SQLite is experimental; the part in use is tested. */
function hideSqliteWarning(): void {
  const emitWarning = process.emitWarning.bind(process) as (...all: unknown[]) => void;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (String(warning).startsWith('SQLite is an experimental feature')) return;
    emitWarning(warning, ...rest);
  };
}

/** Some answers of the system are missing in a container or a removed folder. */
function orNull(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
