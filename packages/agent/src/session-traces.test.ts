import { systemClock } from '@orion/contracts';
import type { TraceEvent } from '@orion/contracts';
import { createWritePlanTool } from '@orion/core';
import { createPatternMatcher, createWorkspace } from '@orion/workspace';
import { expect, it } from 'vitest';
import { temporaryDirectory, openOrion } from './testing/set-up.ts';
import { newSessionId } from './turn/session-id.ts';

/** Hazard: what a person does with a session by hand is in no trace of it, or in one that names nothing (D1, R231). */

async function withOrphan() {
  const root = await temporaryDirectory();
  const workspace = await createWorkspace({ root, clock: systemClock });
  const tool = createWritePlanTool({
    workspace,
    clock: systemClock,
    createId: newSessionId,
    patterns: createPatternMatcher(systemClock),
  });
  const { handle } = await tool.begin({
    intent: 'a test',
    target_file: 'a.txt',
    operation: 'create',
    final_newline: true,
  });
  await handle.release();
  await workspace.close();
  const traces: TraceEvent[] = [];
  const orion = await openOrion({
    workspace: root,
    onTrace: (event) => traces.push(event),
  });
  return { orion, id: handle.id, traces };
}

it('a session that is discarded by hand', async () => {
  const { orion, id, traces } = await withOrphan();
  const { attic } = await orion.discardSession(id);
  expect(traces).toMatchObject([
    {
      type: 'write_session_discarded',
      projectId: orion.projectId,
      sessionId: id,
      details: { attic },
    },
  ]);
});

it('a session that is put aside with others', async () => {
  const { orion, id, traces } = await withOrphan();
  await orion.cleanSessions({ all: true });
  expect(traces).toMatchObject([
    { type: 'cleaned', projectId: orion.projectId, sessionId: id, source: 'workspace' },
  ]);
});
