// A turn that another process writes is read from the store they share, each event once and in order.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { openStore } from '@orion/agent';
import { createOrionClient } from '@orion/client';
import { systemClock } from '@orion/contracts';
import { expect, inject, it, onTestFinished } from 'vitest';

import { numbersOf, openStream } from '../testing/read-stream.ts';
import { temporaryDirectory, TOKEN } from '../testing/test-server.ts';
import { startTurnServer } from '../testing/turn-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresBroker: number;
  }
}

const COUNT = 40;
const script = fileURLToPath(new URL('../testing/write-turn.ts', import.meta.url));

type Location = Parameters<typeof openStore>[0];

async function locationOf(kind: string): Promise<Location> {
  if (kind === 'sqlite') return { kind, path: join(await temporaryDirectory(), 'orion.db') };
  const answer = await fetch(`http://127.0.0.1:${inject('postgresBroker')}/`);
  return { kind: 'postgres', url: await answer.text() };
}

it.each(['sqlite', 'postgres'])('%s', { timeout: 30_000 }, async (kind) => {
  const location = await locationOf(kind);
  const store = openStore(location, { clock: systemClock });
  onTestFinished(() => store.close());
  const server = await startTurnServer({}, { store });
  const turnId = `turn-of-${process.pid}-${Date.now()}`;
  await server.begin(turnId);
  const path = `/api/turns/${turnId}/events`;
  const whole = await openStream(server.port, path);
  const child = spawn(
    process.execPath,
    ['--conditions=@orion/source', script, JSON.stringify(location), turnId, String(COUNT)],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const exited = once(child, 'exit');
  // One that leaves behind each event, and comes again.
  const events = createOrionClient({ url: `http://127.0.0.1:${server.port}`, token: TOKEN }).turns;
  const seen: number[] = [];
  for (let after = '0'; seen.length < COUNT;) {
    const reading = events.events(turnId, { after });
    for await (const event of reading) {
      seen.push('seq' in event ? event.seq : 0);
      break;
    }
    after = reading.lastEventId ?? after;
  }
  await whole.ended;
  const numbers = Array.from({ length: COUNT }, (_, index) => index + 1);
  expect([seen, numbersOf(whole.messages)]).toEqual([numbers, numbers]);
  expect(await exited).toEqual([0, null]);
});
