/** Turns that are cancelled through one server after the other, wherever they run: one end each, and soon. */
import type { Behaviour } from '@orion/llm-adapters/scripted';
import type { TestPostgres } from '@orion/testkit/postgres';

import { makeDatabase } from '../served-turns/databases.ts';
import { judgeCancelled } from '../served-turns/judge.ts';
import { TurnReader } from '../served-turns/reader.ts';
import type { ReadEvent } from '../served-turns/reader.ts';
import { makeStage } from '../served-turns/stage.ts';
import { ALLOWED_COMMAND } from '../served-turns/stories.ts';
import { startGroup } from './group.ts';
import { environmentOf } from './scenario.ts';
import type { ScenarioOptions, ScenarioOutcome } from './scenario.ts';

type Case = {
  readonly name: string;
  /** When to cancel; at once, if it is null. */
  readonly from: ((event: ReadEvent) => boolean) | null;
  readonly limitMs: number;
};

const HANGS = 'Run what hangs.';
const TALKS = 'Talk for long.';
const CASES: readonly Case[] = [
  { name: `${TALKS} (at once)`, from: null, limitMs: 2_000 },
  { name: TALKS, from: ({ type }) => type === 'chunk', limitMs: 2_000 },
  { name: HANGS, from: ({ type }) => type === 'tool_calls', limitMs: 12_000 },
];
const EACH = 6;
const BEHAVIOURS: readonly Behaviour[] = [
  {
    when: { history: { contains: HANGS } },
    reply: { toolCalls: [{ name: 'run_command', arguments: { command: ALLOWED_COMMAND } }] },
  },
  {
    reply: { text: 'A word and another one. '.repeat(1_000) },
    shape: { chunk: { min: 5, max: 9 }, eventsPerSecond: 25 },
  },
];

export async function cancelElsewhere(
  { servers, isOneParent, sessions }: ScenarioOptions,
  postgres: TestPostgres,
): Promise<ScenarioOutcome> {
  const stage = await makeStage(
    // It neither ends nor heeds that it is asked to.
    { before: { 'count.sh': "trap '' TERM\nsleep 600\n" }, script: { behaviours: BEHAVIOURS } },
    await makeDatabase(postgres.url),
    environmentOf(sessions),
  );
  try {
    const group = await startGroup(stage, { count: servers, isOneParent });
    const cancelled = async ({ name, from, limitMs }: Case, index: number) => {
      const { body } = await group
        .at(index)
        .ask('POST', '/api/chat/messages', { content: name, conversationId: `${index} ${name}` });
      const { turnId } = body as { readonly turnId: string };
      let asked = 0;
      const cancel = (): void => {
        asked = performance.now();
        const path = `/api/turns/${turnId}/cancel`;
        void group.at(index + 1).ask('POST', path, {});
      };
      if (from === null) cancel();
      const reader = new TurnReader(turnId);
      while (!reader.isDone) {
        await reader.read(group.at(index + 2), () => {
          const last = reader.events.at(-1);
          if (asked === 0 && last !== undefined && from?.(last) === true) cancel();
          return reader.isDone ? 'enough' : 'more';
        });
      }
      const tookMs = asked === 0 ? Infinity : performance.now() - asked;
      const late = tookMs > limitMs ? [`it took ${Math.round(tookMs)} ms`] : [];
      const failures = [...judgeCancelled(reader.events), ...late];
      return { tookMs, failures: failures.map((failure) => `${name}: ${failure}`) };
    };
    const failures: string[] = [];
    const figures: Record<string, number> = {};
    for (const each of CASES) {
      const found = await Promise.all(
        Array.from({ length: EACH }, (_, index) => cancelled(each, index)),
      );
      figures[`${each.name} ms`] = Math.round(Math.max(...found.map(({ tookMs }) => tookMs)));
      failures.push(...found.flatMap((one) => one.failures));
    }
    await group.end();
    return { figures, failures };
  } finally {
    await stage.strike();
  }
}
