/** What tests of this package begin with. Everything is closed and removed when its test ends. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type {
  Clock,
  RunEvent,
  SessionHandle,
  TurnRecord,
  Workspace,
  WriteOperation,
} from '@orion/contracts';
import { createWritePlanTool } from '@orion/core';
import type { FinalizeFacts, WritePlanTool, WritePlanToolOptions } from '@orion/core';
import { startScriptedProvider } from '@orion/llm-adapters/scripted';
import type { ScriptedProvider, Script } from '@orion/llm-adapters/scripted';
import { collect, createFakeClock, toolCall } from '@orion/testkit';
import { createPatternMatcher, createWorkspace } from '@orion/workspace';
import { expect, onTestFinished } from 'vitest';

import { createOrion } from '../create-orion.ts';
import type { Orion, OrionOptions, TurnRequest } from '../orion.ts';
import { newSessionId } from '../turn/session-id.ts';

export { SESSION_RECORD as RECORD } from '@orion/testkit/records';

export async function temporaryDirectory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'orion-agent-')));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** With a store in memory unless the options name another. */
export async function openOrion(options: OrionOptions): Promise<Orion> {
  const orion = await createOrion({ store: 'memory', ...options });
  onTestFinished(() => orion.close());
  return orion;
}

export async function openWorkspace(root: string, clock: Clock): Promise<Workspace> {
  const workspace = await createWorkspace({ root, clock });
  onTestFinished(() => workspace.close());
  return workspace;
}

/** The write tool on a real disk, with a clock that stands still. */
export async function openWriteTool(
  root: string,
  options: Pick<WritePlanToolOptions, 'approval'> = {},
): Promise<{ readonly tool: WritePlanTool; readonly workspace: Workspace }> {
  const clock = createFakeClock();
  const workspace = await openWorkspace(root, clock);
  const patterns = createPatternMatcher(clock);
  const tool = createWritePlanTool({
    workspace,
    clock,
    createId: newSessionId,
    patterns,
    ...options,
  });
  return { tool, workspace };
}

/** A turn against a scripted provider, in which every request is one that a provider takes. */
export async function scriptedTurn(
  workspace: string,
  behaviours: Script['behaviours'],
  request: TurnRequest,
): Promise<{
  readonly events: readonly RunEvent[];
  readonly requests: ScriptedProvider['requests'];
}> {
  const provider = await startScriptedProvider({ behaviours });
  onTestFinished(() => provider.close());
  const orion = await openOrion({
    workspace,
    provider: { type: 'openai', model: 'scripted', baseUrl: provider.url },
  });
  const events = await collect(orion.runTurn(request));
  await orion.close();
  expect(provider.requests.flatMap(({ violations }) => violations)).toEqual([]);
  return { events, requests: provider.requests };
}

/** The call that begins a file. */
export function beginCall(id = 'call-1', target = 'a.txt'): ReturnType<typeof toolCall> {
  return toolCall(id, 'WritePlanTool_begin', {
    intent: 'test',
    target_file: target,
    operation: 'create',
  });
}

/** A session on a file, as the write tool begins it. */
export async function beginSession(
  workspace: Workspace,
  target = 'a.txt',
  operation: WriteOperation = 'create',
  turn?: TurnRecord,
): Promise<SessionHandle> {
  const id = randomUUID();
  return await workspace.sessions.begin(
    {
      version: 1,
      session_id: id,
      intent: 'a test',
      target_file: target,
      operation,
      created_at: new Date().toISOString(),
      end_marker: `DONE ${id.slice(0, 4)}`,
      final_newline: true,
      target: await workspace.checkTarget(target, operation),
    },
    turn,
  );
}

/** All of the text is the file's, and nothing is to be asked about it. */
export const WHOLE: FinalizeFacts = {
  start: 0,
  end: null,
  notes: { fence_stripped: false, warnings: [] },
  innerDoneLines: [],
  seams: [],
  repair: null,
  askOmissions: false,
};
