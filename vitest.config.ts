import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

import { defineConfig } from 'vitest/config';

// Tests run the packages from source: no build is needed, and coverage names real files.
// After our own condition come vite's defaults for code that runs on a server.
const conditions = ['@orion/source', 'module', 'node', 'development|production'];

useMemoryForFiles();
// Hundreds of processes load the same files: all but the first from what that one has compiled.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'orion-compiled');

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Files share a process and what it has loaded, instead of loading the same sources two hundred times: a third of the
    // time. So a test puts back what it changes in the process, as every test here does.
    isolate: false,
    tags: [
      {
        name: 'long',
        description:
          'left out of `npm test`, which has five minutes; `npm run test:long` runs them',
        skip: process.env['ORION_EVERY_TEST'] !== '1',
      },
    ],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            '{packages,apps}/*/src/**/*.test.ts',
            'tools/{checks,durability,mutate,packaging}/src/**/*.test.ts',
          ],
          setupFiles: ['packages/testkit/src/testing/temporary-writes.ts'],
          globalSetup: ['packages/testkit/src/postgres/testing/postgres-broker.ts'],
          // What takes a moment alone takes seconds on a machine that does other work, too.
          testTimeout: 20_000,
          hookTimeout: 20_000,
          expect: { poll: { timeout: 10_000 } },
          // Tests wait now and then. Not '150%': that is never more than there are processors.
          maxWorkers: Math.ceil(availableParallelism() * 1.5),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          // The built command as a child process; after the unit tests, so that their load
          // does not disturb what is timed here.
          name: 'e2e',
          include: ['tools/e2e/**/*.test.ts'],
          // More than one of their waits (`tools/e2e/support/wait.ts`), whose error says what was waited for.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 60_000 } },
          // Real processes, and a browser, on a machine whose load is not known. `.ci/run` names what passed only then.
          retry: process.env['CI'] === 'true' ? 1 : 0,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    coverage: { provider: 'v8', include: ['{packages,apps}/*/src/**/*.ts'] },
  },
});

/**
 * What tests write is synced thousands of times. In a file system in memory that costs nothing, and everything else
 * about its files is real. A disk is used where there is none, where it has little room, and where TMPDIR names one.
 */
function useMemoryForFiles(): void {
  const room = 2 * 1024 ** 3;
  if (process.platform !== 'linux' || process.env['TMPDIR'] !== undefined) return;
  let folder: string;
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize < room) return;
    folder = mkdtempSync('/dev/shm/orion-tests-');
    // Postgres does not run as root, and has to find its files in there.
    chmodSync(folder, 0o755);
  } catch {
    return;
  }
  process.env['TMPDIR'] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}
