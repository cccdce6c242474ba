import { defineConfig } from 'vitest/config';

// Tests run the packages from source: no build is needed, and coverage names real files.
// After our own condition come vite's defaults for code that runs on a server.
const conditions = ['@orion/source', 'module', 'node', 'development|production'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Files share a process and what it has loaded, instead of loading the same sources two hundred times: a third of the
    // time. So a test puts back what it changes in the process, as every test here does.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            '{packages,apps}/*/src/**/*.test.ts',
            'tools/{checks,packaging}/src/**/*.test.ts',
          ],
          setupFiles: ['packages/testkit/src/testing/temporary-writes.ts'],
          globalSetup: ['packages/testkit/src/postgres/testing/postgres-broker.ts'],
          // Vitest would leave one of two processors to itself, which hardly uses it.
          maxWorkers: '100%',
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
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    coverage: { provider: 'v8', include: ['{packages,apps}/*/src/**/*.ts'] },
  },
});
