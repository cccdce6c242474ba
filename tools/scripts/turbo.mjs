// turbo with its telemetry and update notices off: a build reaches nothing and says nothing
// of its own. A file instead of `VAR=1 turbo …`, which not every shell understands.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const windows = process.platform === 'win32';
const result = spawnSync(
  `${root}node_modules/.bin/turbo${windows ? '.cmd' : ''}`,
  process.argv.slice(2),
  {
    cwd: root,
    stdio: 'inherit',
    shell: windows,
    env: {
      ...process.env,
      TURBO_TELEMETRY_DISABLED: '1',
      DO_NOT_TRACK: '1',
      TURBO_NO_UPDATE_NOTIFIER: '1',
    },
  },
);
if (result.error) {
  process.stderr.write(`turbo could not be started: ${result.error.message}\n`);
}
process.exitCode = result.status ?? 1;
