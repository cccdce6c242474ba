import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '@orion/contracts';
import type { TraceEvent, TraceInput, TraceStore } from '@orion/contracts';
import { callsReply, createFakeAdapter, textReply, toolCall } from '@orion/testkit';
import { createMemoryTraceStore } from '@orion/trace-store';
import { expect, onTestFinished, test } from 'vitest';

import { createOrion } from './create-orion.ts';

/** Hazard: a store that was passed in gets what the own ones never see. B19. */

const KEY = 'sk-canary-0123456789abcdef';

/** A store that keeps what it is given, to the letter. */
function keepsAll(): TraceStore & { readonly kept: (TraceInput | string)[] } {
  const kept: (TraceInput | string)[] = [];
  return {
    ...createMemoryTraceStore({ clock: systemClock }),
    kept,
    record: (event) => void kept.push(event),
  };
}

test.each(['traceStore', 'store'] as const)(
  'a %s that was passed in sees no key, and an observer sees what it sees',
  async (name) => {
    const workspace = await mkdtemp(join(tmpdir(), 'orion-traces-'));
    onTestFinished(() => rm(workspace, { recursive: true, force: true }));
    const traces = keepsAll();
    const observed: TraceEvent[] = [];
    const adapter = createFakeAdapter([
      callsReply([toolCall('1', 'read_file', { path: `${KEY}.txt` })]),
      textReply('Done.'),
    ]);
    const memory = await createOrion({ workspace, adapter, store: 'memory' });
    onTestFinished(() => memory.close());
    const orion = await createOrion({
      workspace,
      adapter,
      provider: { apiKey: KEY },
      onTrace: (event) => observed.push(event),
      ...(name === 'store'
        ? { store: { ...memory.store, traces } }
        : { store: 'memory', traceStore: traces }),
    });
    for await (const event of orion.runTurn({ content: `What is in ${KEY}.txt?` })) void event;
    await orion.close();
    expect(traces.kept.length).toBeGreaterThan(3);
    expect(JSON.stringify(traces.kept)).toContain('[REDACTED]');
    expect(JSON.stringify(traces.kept)).not.toContain('canary');
    expect(observed).toEqual(traces.kept);
  },
);
