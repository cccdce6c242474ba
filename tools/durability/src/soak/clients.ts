/** Clients as they come: most read to the end, some leave, cancel, stall, or ask for what there is not. */
import { setTimeout as wait } from 'node:timers/promises';

import type { Random } from '@orion/common';

import { isRefused, TurnReader } from '../served-turns/reader.ts';
import type { Group } from '../several-servers/group.ts';
import { post } from '../several-servers/run-fault.ts';
import { soakFile } from './script.ts';

export type ClientCounts = {
  turns: number;
  cancelled: number;
  reconnects: number;
  stalled: number;
  refused: number;
  /** By status of their `done`. */
  readonly ends: Record<string, number>;
  readonly failures: string[];
};

const MANNERS = ['reads', 'reads', 'reads', 'leaves', 'cancels', 'stalls', 'asks wrongly'] as const;
const STALL_MS = 2_000;
const AGAIN_MS = 50;

/** One client after the other, until `isOver`. */
export async function playClients(
  group: Group,
  client: number,
  random: Random,
  isOver: () => boolean,
  counts: ClientCounts,
): Promise<void> {
  while (!isOver()) {
    try {
      await playOne(group, client, random, counts);
    } catch (error) {
      counts.failures.push(String(error));
      await wait(100);
    }
  }
}

async function playOne(
  group: Group,
  client: number,
  random: Random,
  counts: ClientCounts,
): Promise<void> {
  const server = group.at(client);
  const manner = random.pick(MANNERS);
  if (manner === 'asks wrongly') {
    const answer = await server
      .ask('POST', '/api/chat/messages', { content: 7 })
      .catch(unlessRefused);
    if (answer !== null && answer.status !== 400)
      counts.failures.push(`a wrong body was answered with ${answer.status}`);
    counts.refused += 1;
    return;
  }
  const prompt = random.next() < 0.5 ? `Write ${soakFile(client)}` : 'Just answer';
  const turnId = await post(group, client, { prompt, conversationId: `soak-${random.next()}` });
  counts.turns += 1;
  const reader = new TurnReader(turnId);
  const leavesAfter = random.between(1, 4);
  let seen = 0;
  const onEvent = (): 'more' | 'enough' => {
    seen += 1;
    if (seen === leavesAfter && manner === 'cancels') {
      counts.cancelled += 1;
      // A server that is killed may not have heard of it.
      void server.ask('POST', `/api/turns/${turnId}/cancel`, {}).catch(() => undefined);
    }
    return manner === 'leaves' && seen % leavesAfter === 0 ? 'enough' : 'more';
  };
  while (!reader.isDone) {
    const { length } = reader.events;
    await reader.read(server, onEvent).catch(unlessRefused);
    if (reader.isDone) break;
    counts.reconnects += 1;
    if (manner === 'stalls') await wait(STALL_MS);
    if (reader.events.length === length) await wait(AGAIN_MS);
  }
  if (manner === 'stalls') counts.stalled += 1;
  const missing = reader.events.findIndex(({ data }, index) => data['seq'] !== index + 1);
  if (missing !== -1) counts.failures.push(`${turnId} has no event ${missing + 1}`);
  if (reader.resets > 0) counts.failures.push(`${turnId} began again for its reader`);
  const end = String(reader.events.at(-1)?.data['status']);
  counts.ends[end] = (counts.ends[end] ?? 0) + 1;
}

/** Whoever is refused by a server that was killed asks again. */
function unlessRefused(error: unknown): null {
  if (!isRefused(error)) throw error;
  return null;
}
