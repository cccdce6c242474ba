import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import { configureUser, madeServer } from './support/mcp.ts';
import { LAST_WORD } from './support/scripts.ts';
import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

/** Hazard: what Orion has started goes on when Orion itself is killed. R281, B27. */

/** Those whose command line has this text; a zombie has ended. */
function processesWith(text: string): readonly string[] {
  return execFileSync('ps', ['-eo', 'stat=,pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(text) && !/^Z|ps -eo/.test(line));
}

test.concurrent.for(['off', 'auto'])(
  'a command and what has left its group, with --sandbox %s',
  async (mode, { machine }) => {
    const seconds = String(1_000_000 + Math.floor(Math.random() * 1_000_000));
    const sleep = `sleep ${seconds}`;
    const command = `trap '' TERM HUP; ${sleep} & setsid ${sleep} & ${sleep}`;
    const provider = await machine.provider({
      behaviours: [
        {
          when: { toolResults: 0 },
          reply: { toolCalls: [{ name: 'run_command', arguments: { command } }] },
        },
        LAST_WORD,
      ],
    });
    const running = machine.startAsking(provider, [
      '--approve-commands',
      'auto',
      '--sandbox',
      mode,
    ]);
    const own = (): readonly string[] =>
      processesWith(sleep).filter((line) => /^\S+ +\d+ sleep/u.test(line));
    await waitFor('three processes', () => own().length === 3);
    running.kill('SIGKILL');
    await running.finished;
    await waitFor('the end of all processes', () => processesWith(seconds).length === 0);
  },
);

test.concurrent('an MCP server that takes no end, and its child', async ({ machine }) => {
  await configureUser(machine, { mcpServers: { made: await madeServer(machine, 'grandchild') } });
  const provider = await machine.provider({
    behaviours: [{ reply: { text: 'never' }, shape: { firstDelayMs: 60_000 } }],
  });
  const running = machine.startAsking(provider);
  await waitFor('the request', () => provider.requests.length > 0);
  const pid = await readFile(join(machine.root, 'seen'), 'utf8');
  const isThere = (): boolean =>
    processesWith(machine.home).length > 0 || processesWith(` ${pid} `).length > 0;
  expect(isThere()).toBe(true);
  running.kill('SIGKILL');
  await running.finished;
  await waitFor('the end of all processes', () => !isThere());
});
