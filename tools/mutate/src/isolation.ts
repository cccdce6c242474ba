import { spawnSync } from 'node:child_process';

import type { Sources } from './sources.ts';

/** Options of `fork` for a process that sees no others than those it starts. */
export type Isolation = { readonly execPath: string; readonly execArgv: string[] };

const NAMESPACE = ['--dev-bind', '/', '/', '--proc', '/proc', '--unshare-pid', '--die-with-parent'];

/**
 * A mutant of `process.kill(-group)` may signal every process of whoever runs it. Null where bubblewrap does not work;
 * throws there for code that sends signals.
 */
export function isolationFor(
  { package: name, code }: Pick<Sources, 'package' | 'code'>,
  path: string | undefined,
): Isolation | null {
  const execArgv = [...NAMESPACE, process.execPath, ...process.execArgv];
  const trial = spawnSync('bwrap', [...execArgv, '--version'], {
    env: { PATH: path },
    stdio: 'ignore',
  });
  if (trial.status === 0) return { execPath: 'bwrap', execArgv };
  const [dangerous] = [...code].find(([, text]) => text.includes('process.kill(')) ?? [];
  if (dangerous === undefined) return null;
  throw new Error(
    `${dangerous} sends signals, and its mutants could end every process of this user: ` +
      `install bubblewrap to mutate ${name}`,
  );
}
