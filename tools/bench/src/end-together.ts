import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/**
 * Has a process end with this one, however this one ends: when that happens, SIGKILL included, the pipe to a shell
 * closes, and the shell ends the process.
 */
export function endTogether(child: ChildProcess): void {
  const script = `trap '' INT TERM HUP; cat >/dev/null; kill -9 ${child.pid} 2>/dev/null`;
  const guard = spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'] });
  guard.unref();
  child.once('exit', () => {
    // First the shell: the number of the process may soon be that of another one.
    guard.kill('SIGKILL');
    guard.stdin.destroy();
  });
}
