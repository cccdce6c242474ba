/** Runs a command and starts a server with so many free descriptors, and writes what came of them and what is left running. */
import { closeSync, openSync } from 'node:fs';

import { systemClock } from '@orion/contracts';

import { MCP_LIMITS } from '../../mcp/server.ts';
import { StdioTransport } from '../../mcp/stdio-transport.ts';
import { runInGroup } from '../process-group.ts';
import { processesMarked } from '../processes.ts';

const free = Number(process.argv[2]);
const id = `few-${process.pid}`;
const environment = { PATH: process.env['PATH'] ?? '' };
const transport = new StdioTransport({
  server: {
    kind: 'stdio',
    name: 's',
    place: 's',
    command: 'cat',
    args: [],
    environment: {},
    folder: '/',
  },
  environment,
  id,
  limits: MCP_LIMITS,
  clock: systemClock,
});

async function outcomeOf(work: () => Promise<string>): Promise<string> {
  // What is loaded at the first use is loaded before.
  const held: number[] = [];
  try {
    for (;;) held.push(openSync('/dev/null', 'r'));
  } catch {
    for (const descriptor of held.splice(0, free)) closeSync(descriptor);
  }
  try {
    return await work();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    for (const descriptor of held) closeSync(descriptor);
  }
}

const run = async (timeoutMs: number, line: string): Promise<string> => {
  const signal = new AbortController().signal;
  const command = ['/bin/sh', '-c', line] as const;
  const rest = { cwd: '/', maxOutputBytes: 1_000, signal, clock: systemClock };
  return (await runInGroup({ command, environment, id, timeoutMs, ...rest })).reason;
};
await run(5_000, 'true');
const command = await outcomeOf(() => run(100, 'sleep 60 & exec sleep 60'));
const background = await outcomeOf(() => run(5_000, 'sleep 60 > /dev/null &'));
const server = await outcomeOf(async () => {
  await transport.start();
  return 'started';
});
await transport.close();
const left = [
  ...(await processesMarked(`ORION_COMMAND=${id}`)),
  ...(await processesMarked(`ORION_MCP_SERVER=${id}`)),
];
for (const { pid } of left) process.kill(pid, 'SIGKILL');
process.stdout.write(JSON.stringify({ command, background, server, left: left.length }));
