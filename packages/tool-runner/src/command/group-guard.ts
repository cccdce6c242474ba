import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/**
 * A line on the pipe says that there is nothing to do; its end without a line, that the process which held it is gone.
 * What has left the group is found by its environment, where there are `grep` and `/proc`.
 */
const SCRIPT = `read -r _ && exit
kill -s KILL -- "-$0"
for found in $(grep -slzxF -- "$1" /proc/[0-9]*/environ); do
  found=\${found%/environ}
  kill -s KILL "\${found#/proc/}"
done`;

/**
 * Ends a process group, and what has left it with this variable in its environment, if this process ends before
 * `release`, even by SIGKILL.
 */
export function guardGroup(group: number, variable: string, path = ''): { release(): void } {
  const guard: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT, String(group), variable], {
    env: { PATH: path },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a guard only a sudden end leaves something behind. One that cannot be started may have no pipe.
  guard.on('error', () => undefined);
  guard.stdin?.on('error', () => undefined);
  guard.unref();
  return { release: () => guard.stdin?.end('\n') };
}
