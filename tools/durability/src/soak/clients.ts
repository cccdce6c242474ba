/** Clients as they come: most read to the end, some leave, cancel, stall, or ask for what there is not. */
import { setTimeout as wait } from 'node:timers/promises';

import type { Random } from '@orion/common';

import { TurnReader } from '../served-turns/reader.ts';
import type { Served } from '../served-turns/stage.ts';
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

/** One client after the other, until `isOver`. */
export async function playClients(
  served: Served,
  client: number,
  random: Random,
  isOver: () => boolean,
  counts: ClientCounts,
): Promise<void> {
  while (!isOver()) {
    try {
      await playOne(served, client, random, counts);
    } catch (error) {
      counts.failures.push(String(error));
      await wait(100);
    }
  }
}

async function playOne(
  served: Served,
  client: number,
  random: Random,
  counts: ClientCounts,
): Promise<void> {
  const manner = random.pick(MANNERS);
  if (manner === 'asks wrongly') {
    const { status } = await served.ask('POST', '/api/chat/messages', { content: 7 });
    if (status !== 400) counts.failures.push(`a wrong body was answered with ${status}`);
    counts.refused += 1;
    return;
  }
  const content = random.next() < 0.5 ? `Write ${soakFile(client)}` : 'Just answer';
  const message = { content, conversationId: `soak-${random.next()}` };
  const { status, body } = await served.ask('POST', '/api/chat/messages', message);
  if (status !== 202) throw new Error(`a message was answered with ${status}`);
  const { turnId } = body as { readonly turnId: string };
  counts.turns += 1;
  const reader = new TurnReader(turnId);
  const leavesAfter = random.between(1, 4);
  let seen = 0;
  while (!reader.isDone) {
    const { length } = reader.events;
    await reader.read(served, () => {
      seen += 1;
      if (seen === leavesAfter && manner === 'cancels') {
        counts.cancelled += 1;
        void served.ask('POST', `/api/turns/${turnId}/cancel`, {}).catch(() => undefined);
      }
      return manner === 'leaves' && seen % leavesAfter === 0 ? 'enough' : 'more';
    });
    if (reader.isDone) break;
    counts.reconnects += 1;
    if (manner === 'stalls') await wait(STALL_MS);
    if (reader.events.length === length) await wait(50);
  }
  if (manner === 'stalls') counts.stalled += 1;
  const missing = reader.events.findIndex(({ data }, index) => data['seq'] !== index + 1);
  if (missing !== -1) counts.failures.push(`${turnId} has no event ${missing + 1}`);
  const end = String(reader.events.at(-1)?.data['status']);
  counts.ends[end] = (counts.ends[end] ?? 0) + 1;
}
