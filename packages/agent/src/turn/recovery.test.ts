import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { SessionMetadata, TurnRecord } from '@orion/contracts';
import { createFakeClock, expectValidHistory } from '@orion/testkit';
import { createWorkspace } from '@orion/workspace';
import { expect, onTestFinished, test } from 'vitest';

import { recoveredHistory, recoverSession } from './recovery.ts';
import { SETTINGS } from '../testing/session-settings.ts';

const turn: TurnRecord = {
  version: 1,
  requestId: 'r',
  projectId: 'p',
  conversationId: 'c',
  provider: 'openai',
  model: 'm',
  protocol: 'standard',
  mode: 'act',
  callId: 'call_1',
  messages: [
    { role: 'system', content: 'rules' },
    { role: 'user', content: 'write it' },
  ],
  options: {},
};

async function recover(
  record: TurnRecord | undefined,
): Promise<Awaited<ReturnType<typeof recoverSession>>> {
  const root = await mkdtemp(join(tmpdir(), 'orion-recovery-'));
  const workspace = await createWorkspace({ root, clock: createFakeClock() });
  onTestFinished(async () => {
    await workspace.close();
    await rm(root, { recursive: true });
  });
  const metadata: SessionMetadata = {
    version: 1,
    session_id: '7f3a0000-0000-4000-8000-000000000000',
    intent: 'a list',
    target_file: 'a.txt',
    operation: 'create',
    created_at: '2026-01-01T00:00:00.000Z',
    end_marker: 'DONE 7f3a',
    final_newline: true,
    target: await workspace.checkTarget('a.txt', 'create'),
  };
  const handle = await workspace.sessions.begin(metadata, record);
  handle.append('one\n');
  await handle.release();
  const recovered = await recoverSession(workspace, metadata.session_id, SETTINGS);
  await recovered.handle.release();
  return recovered;
}

test('R048: a process that died before it wrote begin down leaves a history that a provider takes', async () => {
  const history = recoveredHistory(await recover(turn));
  expect(history.slice(0, 2)).toEqual(turn.messages);
  expect(history.at(-1)).toMatchObject({ role: 'tool', toolCallId: 'call_1' });
  expectValidHistory(history);
});

test('R048: a history with begin in it is taken as it is', async () => {
  const messages = [
    ...turn.messages,
    {
      role: 'assistant',
      content: '',
      toolCalls: [
        { id: 'call_1', name: 'WritePlanTool_begin', arguments: '{}', state: 'complete' },
      ],
    },
    { role: 'tool', toolCallId: 'call_1', toolName: 'WritePlanTool_begin', content: '{}' },
  ] as const;
  expect(recoveredHistory(await recover({ ...turn, messages }))).toEqual(messages);
});

test('R067: without a turn there is a short history of its own, and the text is all there', async () => {
  const recovered = await recover(undefined);
  expect(recoveredHistory(recovered).map((message) => message.role)).toEqual(['system', 'user']);
  expect(recovered.session.summary.bytes).toBe(4);
});
