import type { TurnRecord } from '@orion/contracts';
import { createFakeClock, expectValidHistory } from '@orion/testkit';
import { expect, test } from 'vitest';

import { recoveredHistory, recoverSession } from './recovery.ts';
import { SETTINGS } from '../testing/session-settings.ts';
import { temporaryDirectory, openWorkspace, beginSession } from '../testing/set-up.ts';

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
  const root = await temporaryDirectory();
  const workspace = await openWorkspace(root, createFakeClock());
  const handle = await beginSession(workspace, 'a.txt', 'create', record);
  handle.append('one\n');
  await handle.release();
  const recovered = await recoverSession(workspace, handle.id, SETTINGS);
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
