import { createTurnState } from '@orion/contracts';
import type { Clock, LlmAdapter, ProtocolContext, ToolRegistry } from '@orion/contracts';
import type { Script } from '@orion/llm-adapters/scripted';
import { createProtocol, PROTOCOL_NAMES, resolveProtocolConfig } from '@orion/protocols';

import { spreadOf } from './statistics.ts';
import type { Spread } from './statistics.ts';

export const CHUNK_CHARACTERS = 24;

/** How the chunks arrive: many in one read, or each one by itself. */
export type ChunkFlow = 'bulk' | 'event by event';

const ASKS = { plain: 'plain', json: 'json' } as const;

/** A model that answers with so many chunks of text, for a controller as the message of one action. */
export function overheadScript(chunks: number, flow: ChunkFlow): Script {
  const answer = 'word '.repeat(Math.ceil((chunks * CHUNK_CHARACTERS) / 5)).trim();
  return {
    shape: { chunk: CHUNK_CHARACTERS, ...(flow === 'bulk' ? {} : { bytes: 254 }) },
    behaviours: [
      {
        when: { history: ASKS.json },
        reply: { text: JSON.stringify({ action: 'complete', message: answer }) },
      },
      { reply: { text: answer } },
    ],
  };
}

export type OverheadFigures = {
  readonly protocol: string;
  readonly adapterMs: Spread;
  readonly turnMs: Spread;
  /** CPU of a turn beside that of the adapter alone, in neighbouring runs. */
  readonly ratio: Spread;
  /** Text events of the adapter in one answer. */
  readonly deltas: number;
};

/** CPU of the same answer, read from the adapter alone and through each protocol, in turn. */
export async function measureOverhead(
  adapter: LlmAdapter,
  clock: Clock,
  runs: number,
): Promise<readonly OverheadFigures[]> {
  const figures: OverheadFigures[] = [];
  for (const protocol of PROTOCOL_NAMES) {
    const ask = protocol === 'controller' ? ASKS.json : ASKS.plain;
    const alone: number[] = [];
    const turns: number[] = [];
    let deltas = 0;
    // The first runs warm everything up and are not counted.
    for (let run = -5; run < runs; run += 1) {
      const readAlone = async (): Promise<void> => {
        const used = await cpuOf(async () => {
          deltas = await readAdapter(adapter, ask);
        });
        if (run >= 0) alone.push(used);
      };
      const readTurn = async (): Promise<void> => {
        const used = await cpuOf(() => readProtocol(protocol, adapter, clock, ask));
        if (run >= 0) turns.push(used);
      };
      for (const read of run % 2 === 0 ? [readAlone, readTurn] : [readTurn, readAlone]) {
        await read();
      }
    }
    figures.push({
      protocol,
      adapterMs: spreadOf(alone),
      turnMs: spreadOf(turns),
      ratio: spreadOf(turns.map((turn, run) => turn / (alone[run] ?? Number.NaN))),
      deltas,
    });
  }
  return figures;
}

/** User and system, of the whole process: what was set aside for the collector is paid for too. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function readAdapter(adapter: LlmAdapter, ask: string): Promise<number> {
  let deltas = 0;
  let characters = 0;
  const signal = new AbortController().signal;
  const messages = [{ role: 'user', content: ask }] as const;
  for await (const event of adapter.sendMessagesStreaming(messages, { signal })) {
    if (event.type === 'error') throw new Error(event.error.message);
    if (event.type !== 'text-delta') continue;
    deltas += 1;
    characters += event.text.length;
  }
  if (characters === 0) throw new Error('nothing came');
  return deltas;
}

async function readProtocol(
  name: string,
  adapter: LlmAdapter,
  clock: Clock,
  ask: string,
): Promise<void> {
  const context: ProtocolContext = {
    messages: [{ role: 'user', content: ask }],
    mode: 'act',
    projectId: 'bench',
    requestId: 'bench',
    adapter,
    toolRegistry: NO_TOOLS,
    traceService: { record: () => undefined },
    config: resolveProtocolConfig({ stopTokens: 10_000_000 }),
    turnState: createTurnState(),
    startedAt: performance.now(),
    clock,
    signal: new AbortController().signal,
  };
  let characters = 0;
  for await (const event of createProtocol(name).executeStreaming(context)) {
    if (event.type === 'chunk') characters += event.content.length;
    if (event.type === 'outcome' && event.outcome.kind !== 'complete') {
      throw new Error(`the turn ended as ${event.outcome.kind}`);
    }
  }
  if (characters === 0) throw new Error('nothing came');
}

const NO_TOOLS: ToolRegistry = {
  definitions: () => [],
  traitsOf: () => undefined,
  executeToolCalls: () => Promise.resolve([]),
  signatureOf: () => '',
  summarize: () => '',
};
