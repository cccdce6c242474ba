import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect } from 'vitest';

import { commandEntry } from './support/entry.ts';
import { calls, configureUser } from './support/mcp.ts';
import { test } from './support/test.ts';

/**
 * The `client` scenarios of `@modelcontextprotocol/conformance` for revision 2025-11-25, with the command as the client.
 * ORION_MCP_CONFORMANCE names the `dist/index.js` of the package, which is not a dependency: it brings 120 packages. `npm
 * run conformance:mcp` runs it. What is not here is not offered: OAuth and elicitation.
 */
const suite = process.env['ORION_MCP_CONFORMANCE'] ?? '';

/** What the model calls in each scenario. */
const SCENARIOS: Readonly<Record<string, readonly (readonly [name: string, args: object])[]>> = {
  initialize: [],
  tools_call: [['mcp__web__add_numbers', { a: 2, b: 3 }]],
  'sse-retry': [['mcp__web__test_reconnection', {}]],
};

/** What the suite starts with the URL of its server: the command, configured for it, in the same environment. */
const CLIENT = `
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
const [started, file, url] = process.argv.slice(2);
const configuration = JSON.parse(readFileSync(file, 'utf8'));
writeFileSync(file, JSON.stringify({ ...configuration, mcpServers: { web: { url } } }));
const child = spawn(process.execPath, JSON.parse(readFileSync(started, 'utf8')), { stdio: 'inherit' });
child.once('exit', (code) => process.exit(code ?? 1));
`;

describe.skipIf(suite === '')('the suite named by ORION_MCP_CONFORMANCE', () => {
  test.for(Object.entries(SCENARIOS))(
    '%s',
    { timeout: 60_000 },
    async ([scenario, called], { machine }) => {
      await configureUser(machine, { allowMcpTools: called.map(([name]) => name) });
      const script = join(machine.home, 'script.json');
      await writeFile(script, JSON.stringify(calls(...called)));
      const client = join(machine.home, 'client.mjs');
      await writeFile(client, CLIENT);
      const run = ['run', 'go', '--json', '--provider', 'scripted', '--script', script];
      const started = join(machine.home, 'started.json');
      await writeFile(started, JSON.stringify([...commandEntry(), ...run]));
      const file = join(machine.home, '.config', 'orion', 'config.json');
      const command = [process.execPath, client, started, file].join(' ');
      const options = { cwd: machine.workspace, env: { ...machine.environment } };
      const ended = await promisify(execFile)(
        process.execPath,
        [suite, 'client', '--command', command, '--scenario', scenario, '--verbose'],
        options,
      ).catch((error: unknown) => error as { readonly stdout: string; readonly stderr: string });
      // It also calls a run that checked nothing a success.
      expect(ended.stdout + ended.stderr).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/u);
    },
  );
});
