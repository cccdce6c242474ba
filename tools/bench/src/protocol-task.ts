import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { createOrion } from '@orion/agent';
import type { ProtocolName, RunEvent } from '@orion/contracts';
import type { Behaviour, Script } from '@orion/llm-adapters/scripted';

import { spreadOf } from './statistics.ts';
import type { Spread } from './statistics.ts';

const FILES = ['a.txt', 'b.txt', 'c.txt'] as const;
const ANSWER = 'The three files say the same.';

const action = (value: object): Behaviour['reply'] => ({ text: JSON.stringify(value) });

/**
 * A model that reads three files and answers: all three in one message when it may, one after the other when its
 * protocol lets it see one result at a time.
 */
export function taskScript(): Script {
  return {
    behaviours: [
      ...FILES.map((path, index): Behaviour => ({
        when: {
          system: 'exactly one flat JSON object',
          lastUser: index === 0 ? 'LAST TOOL OUTPUT\nNone' : `{"path":"${FILES[index - 1]}"}`,
        },
        reply: action({
          action: 'next_step',
          thinking: { task: 'read' },
          tool: 'read_file',
          args: { path },
        }),
      })),
      {
        when: { system: 'exactly one flat JSON object' },
        reply: action({ action: 'complete', message: ANSWER }),
      },
      {
        when: { toolResults: 0 },
        reply: {
          toolCalls: FILES.map((path) => ({ name: 'read_file', arguments: { path } })),
        },
      },
      ...[1, 2].map((done): Behaviour => ({
        when: { toolResults: done },
        reply: {
          toolCalls: FILES.slice(done).map((path) => ({
            name: 'read_file',
            arguments: { path },
          })),
        },
      })),
      { reply: { text: ANSWER } },
    ],
  };
}

export type TaskFigures = {
  readonly protocol: string;
  readonly calls: number;
  /** As the provider counts them. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly wallMs: Spread;
};

/** The same task under one protocol, a whole turn each time. */
export async function measureTask(
  protocol: ProtocolName,
  baseUrl: string,
  folder: string,
  runs: number,
): Promise<TaskFigures> {
  for (const file of FILES) await writeFile(join(folder, file), 'the same line\n'.repeat(20));
  const orion = await createOrion({
    workspace: folder,
    store: 'memory',
    provider: { type: 'openai', model: 'scripted', baseUrl },
    protocol,
  });
  const wall: number[] = [];
  let events: readonly RunEvent[] = [];
  try {
    for (let run = -2; run < runs; run += 1) {
      const began = performance.now();
      const seen: RunEvent[] = [];
      for await (const event of orion.runTurn({ content: 'Compare a.txt, b.txt and c.txt.' })) {
        seen.push(event);
      }
      if (run >= 0) wall.push(performance.now() - began);
      events = seen;
    }
  } finally {
    await orion.close();
  }
  const done = events.at(-1);
  if (done?.type !== 'done' || done.fullContent !== ANSWER) {
    throw new Error(`${protocol} ended with ${JSON.stringify(done)}`);
  }
  const calls = events.filter((event) => event.type === 'phase' && event.phase === 'action').length;
  const usage = events.filter((event) => event.type === 'usage');
  if (usage.length !== calls) {
    throw new Error(`${protocol} reported the tokens of ${usage.length} of its ${calls} calls`);
  }
  return {
    protocol,
    calls,
    inputTokens: usage.reduce((sum, event) => sum + event.inputTokens, 0),
    outputTokens: usage.reduce((sum, event) => sum + event.outputTokens, 0),
    wallMs: spreadOf(wall),
  };
}
