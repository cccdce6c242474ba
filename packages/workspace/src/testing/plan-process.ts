/** A process that writes a plan and kills itself before one of its changes becomes visible. */
import files from 'node:fs/promises';
import { flushCompileCache, syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

const { root, userKeyDirectory, contents, kill, allowPaths } = JSON.parse(
  process.argv[2] ?? '{}',
) as {
  root: string;
  userKeyDirectory: string;
  contents: Record<string, string>;
  kill: number;
  allowPaths: readonly string[];
};

// What makes a change visible is a temporary file that gets the target's name.
let changes = 0;
const { rename, link, rm } = files;
const counted =
  (call: typeof rename): typeof rename =>
  async (from, to) => {
    if (/^\.orion-[0-9a-f]{16}\.tmp$/u.test(basename(String(from)))) {
      if (changes === kill) process.kill(process.pid, 'SIGKILL');
      changes += 1;
    }
    return call(from, to);
  };
files.rename = counted(rename);
files.link = counted(link);
// After the last change the journal goes.
files.rm = async (path, options) => {
  if (String(path).includes('/plans/') && changes === kill) process.kill(process.pid, 'SIGKILL');
  return rm(path, options);
};
syncBuiltinESMExports();

const { createWorkspace } = await import('../index.ts');
flushCompileCache();
const workspace = await createWorkspace({
  root,
  userKeyDirectory,
  settings: { allowPaths },
  clock: {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    schedule: () => () => undefined,
  },
});
await workspace.commitPlan({
  planId: '8f14e45f-ceea-4670-9e4a-0123456789ab',
  atomic: true,
  siblingBackups: false,
  changes: await Promise.all(
    Object.entries(contents).map(async ([target, content]) => ({
      target,
      operation: 'overwrite' as const,
      parts: [
        {
          kind: 'new' as const,
          source: async function* () {
            yield Buffer.from(content);
          },
        },
      ],
      eol: 'as-is' as const,
      expected: await workspace.checkTarget(target, 'overwrite'),
    })),
  ),
});
