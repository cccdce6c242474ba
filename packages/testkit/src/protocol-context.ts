import { createTurnState } from '@orion/contracts';
import type { ProtocolContext, ProtocolEvent, ProtocolOutcome } from '@orion/contracts';
import { createFakeAdapter } from './fake-adapter.ts';
import { createFakeClock } from './fake-clock.ts';
import { createFakeToolRegistry } from './fake-tool-registry.ts';
import { createFakeTrace } from './fake-trace.ts';

/** A complete protocol context of fakes; a test overrides the parts it is about. */
export function createProtocolContext(overrides: Partial<ProtocolContext> = {}): ProtocolContext {
  const clock = overrides.clock ?? createFakeClock();
  return {
    messages: [
      { role: 'system', content: 'You are helpful.' },
      { role: 'user', content: 'Hello' },
    ],
    mode: 'act',
    projectId: 'project',
    requestId: 'request',
    adapter: createFakeAdapter([]),
    toolRegistry: createFakeToolRegistry({}),
    traceService: createFakeTrace(),
    config: {
      limits: {},
      maxDuplicateAttempts: 3,
      maxIdleToolPhases: 2,
      stopSeconds: 120,
      stopTokens: 32_768,
      budget: { maxTurns: null, maxSeconds: null, maxTokens: null },
      debugShowToolResults: false,
    },
    turnState: createTurnState(),
    clock,
    startedAt: clock.monotonic(),
    signal: new AbortController().signal,
    ...overrides,
  };
}

export async function collect<Item>(source: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** The outcome of a run; throws unless there is exactly one and it is the last event. */
export function outcomeOf(events: readonly ProtocolEvent[]): ProtocolOutcome {
  const last = events.at(-1);
  const count = events.filter((event) => event.type === 'outcome').length;
  if (last?.type !== 'outcome' || count !== 1) {
    throw new Error(`A run ends with exactly one outcome; here ${count}, last ${last?.type}`);
  }
  return last.outcome;
}

/** All text of one source, joined. */
export function textOf(
  events: readonly ProtocolEvent[],
  source: 'model' | 'notice' = 'model',
): string {
  return events
    .map((event) => (event.type === 'chunk' && event.source === source ? event.content : ''))
    .join('');
}
