import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { systemClock } from '@orion/contracts';

import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import type { ExitCode } from '../process/exit-code.ts';
import { STOP_SIGNALS } from '../process/leave-process.ts';
import { watchStop } from '../process/stop-request.ts';
import { forkWorker } from './cluster.ts';
import { COULD_NOT_START, WorkerGroup } from './worker-group.ts';
import type { Serving, WorkerEnd } from './worker-group.ts';

export type WorkerPlace = {
  readonly count: number;
  readonly host: string;
  readonly port: number;
  /** What is said of a port or address that cannot be had. */
  readonly notListening: (error: unknown) => Error;
};

/** The parent of workers that serve at one port: keeps them alive, and passes on what it is asked. */
export async function serveWorkers(
  { argv, screen, stdout }: Pick<CommandContext, 'argv' | 'screen' | 'stdout'>,
  { count, host, port, notListening }: WorkerPlace,
  onServing: (serving: Serving) => Promise<() => Promise<void>>,
): Promise<ExitCode> {
  // Each of them asks for the same port, also one that replaces the last that had it. Of an option that is repeated, the
  // last one counts.
  const args = port === 0 ? [...argv, '--port', String(await findPort(host, notListening))] : argv;
  const group = new WorkerGroup({
    fork: () => forkWorker(args),
    clock: systemClock,
    say: (line) => screen.line(line, 'warning'),
  });
  const stop = watchStop({ leave: () => void group.stop() });
  let tidyUp = (): Promise<void> => Promise.resolve();
  try {
    const started = await Promise.race([group.start(count), stop.asked]);
    if (typeof started === 'object' && !('url' in started)) {
      const { code, signal } = started;
      if (signal === null && code === null) screen.line(`${COULD_NOT_START}.`, 'error');
      if (signal !== null) screen.line(`A worker was ended (${signal}) before it served.`, 'error');
      await group.stop();
      return exitCodeOf(started);
    }
    if (typeof started === 'object') {
      for (const line of started.lines) screen.line(line);
      screen.line(`${count} workers are ready.`);
      await stdout.write(`${started.url}\n`);
      tidyUp = await onServing(started);
    }
    await stop.asked;
    screen.line('Stopping.');
    const codes = (await group.stop()).map(stoppedCodeOf);
    return codes.find((code) => code !== EXIT.done) ?? EXIT.done;
  } finally {
    await tidyUp();
    stop.dispose();
  }
}

async function findPort(host: string, notListening: WorkerPlace['notListening']): Promise<number> {
  const server = createServer().listen({ host, port: 0 });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw notListening(error);
  }
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** One that was asked to stop before it listened to signals ends by that. A terminal asks all of its processes. */
function stoppedCodeOf(end: WorkerEnd): ExitCode {
  return STOP_SIGNALS.some((signal) => signal === end.signal) ? EXIT.done : exitCodeOf(end);
}

/** A worker ends with a code of the command. */
function exitCodeOf({ code }: WorkerEnd): ExitCode {
  return Object.values(EXIT).find((each) => each === code) ?? EXIT.failure;
}
