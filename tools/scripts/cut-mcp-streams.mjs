// `npm run conformance:mcp-streams`: the recorded streams of an MCP server, cut at every byte.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    'packages/tool-runner/src/mcp/recorded-streams.test.ts',
    '--reporter=verbose',
  ],
  {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: 'inherit',
    env: { ...process.env, ORION_MCP_CUTS: 'all' },
  },
);
process.exitCode = status ?? 1;
