import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';

import { startProgram } from './server-load.ts';

const QUEUES = ['in-process', 'pg-boss'] as const;
export type QueueKind = (typeof QUEUES)[number];

export type QueueOptions = {
  readonly command: string;
  readonly folder: string;
  readonly provider: string;
  /** A database of its own for each queue. */
  readonly databaseOf: (queue: QueueKind) => Promise<string>;
  readonly turns: number;
};

/** From when a message was accepted until the first event of its turn, in milliseconds and in order. */
export type QueueDelays = Readonly<Record<QueueKind, readonly number[]>>;

const TOKEN = 'a-token-of-the-measurement';
const WARM_UP = 20;

/** One turn after the other, at a server with each queue in turn; the store is Postgres for both. */
export async function measureQueues(options: QueueOptions): Promise<QueueDelays> {
  const servers = [];
  const agent = new Agent({ keepAlive: true });
  try {
    for (const queue of QUEUES) servers.push(await serve(queue, options));
    const delays: Record<QueueKind, number[]> = { 'in-process': [], 'pg-boss': [] };
    for (let turn = -WARM_UP; turn < options.turns; turn += 1) {
      for (const { queue, url } of servers) {
        const delay = await firstEventOf(agent, url, `${queue}-${turn}`);
        if (turn >= 0) delays[queue].push(delay);
      }
    }
    for (const all of Object.values(delays)) all.sort((one, other) => one - other);
    return delays;
  } finally {
    agent.destroy();
    for (const { child } of servers) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
  }
}

async function serve(
  queue: QueueKind,
  { command, folder, provider, databaseOf }: QueueOptions,
): Promise<Awaited<ReturnType<typeof startProgram>> & { readonly queue: QueueKind }> {
  const cwd = join(folder, queue);
  await mkdir(cwd);
  const server = await startProgram(
    [command, 'serve', '--port=0', '--model=m', `--base-url=${provider}`],
    {
      cwd,
      env: {
        HOME: cwd,
        ORION_SERVER_TOKEN: TOKEN,
        ORION_QUEUE: queue,
        DATABASE_URL: await databaseOf(queue),
      },
    },
  );
  return { ...server, queue };
}

/** Reads the turn to its end, so that nothing else runs beside the next one. */
function firstEventOf(agent: Agent, url: string, name: string): Promise<number> {
  const body = JSON.stringify({ content: `talk ${name} 50 1`, conversationId: name });
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/chat/messages`, {
      agent,
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
      },
    });
    asked.once('error', reject);
    asked.once('response', (response: IncomingMessage) => {
      const accepted = performance.now();
      let delay: number | null = null;
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        if (text.includes('\ndata: {')) delay ??= performance.now() - accepted;
      });
      response.once('error', reject);
      response.once('end', () => {
        if (delay !== null && text.includes('"status":"complete"')) resolve(delay);
        else reject(new Error(`The turn ended with ${response.statusCode}: ${text.slice(-500)}`));
      });
    });
    asked.end(body);
  });
}
