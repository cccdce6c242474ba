import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { ProtocolStrategy, RunEvent } from '@orion/contracts';
import { createControllerProtocol, createStandardProtocol } from '@orion/protocols';
import { createFakeAdapter, textReply } from '@orion/testkit';
import { beforeEach, expect, it, vi } from 'vitest';

import { createOrion } from './create-orion.ts';
import type { OrionOptions, TurnRequest } from './orion.ts';
import { temporaryDirectory } from './testing/set-up.ts';

let workspace: string;
beforeEach(async () => {
  workspace = await temporaryDirectory();
});
async function turn(options: Partial<OrionOptions>, request: Partial<TurnRequest>) {
  const adapter = createFakeAdapter([textReply('Hello.')]);
  const orion = await createOrion({ workspace, store: 'memory', adapter, ...options });
  const before = orion.getCurrentProtocol();
  const events: RunEvent[] = [];
  try {
    for await (const event of orion.runTurn({ content: 'hi', ...request })) events.push(event);
    const requestId = events[0]?.requestId ?? '';
    const started = (await orion.traces.getTrace(requestId)).find(
      (event) => event.type === 'turn_started',
    );
    return { before, current: orion.getCurrentProtocol(), done: events.at(-1), started };
  } finally {
    await orion.close();
  }
}

it('tells in done and in the trace which protocol ran and why (R180, R267)', async () => {
  const { before, current, done, started } = await turn(
    { protocol: 'standard', settings: { protocolOverrideEnabled: true } },
    { metadata: { protocol: 'two_stage' } },
  );
  expect(before).toBe('standard');
  expect(current).toBe('two-stage');
  expect(done).toMatchObject({
    type: 'done',
    status: 'complete',
    protocol: 'two-stage',
    protocolReason: 'metadata.protocol',
  });
  expect(started?.details).toMatchObject({ protocol: 'two-stage', reason: 'metadata.protocol' });
});

it('leaves metadata alone unless it may decide, and says so in done and in the trace (R179, R180)', async () => {
  const ignored = 'metadata.protocol counts only with PROTOCOL_OVERRIDE_ENABLED';
  const metadata = { protocol: 'two_stage' };
  const { done, started } = await turn({}, { metadata });
  expect(done).toMatchObject({ protocol: 'standard', protocolReason: `default; ${ignored}` });
  expect(started?.details).toMatchObject({ reason: `default; ${ignored}` });
  const configured = await turn({ protocol: 'two-stage' }, { metadata });
  expect(configured.done).toMatchObject({ protocolReason: `option; ${ignored}` });
  const pinned = await turn({}, { metadata, protocol: 'two-stage' });
  expect(pinned.done).toMatchObject({ protocolReason: 'request' });
  const others = await turn({}, { metadata: { client: 'x' } });
  expect(others.done).toMatchObject({ protocolReason: 'default' });
});

it('refuses a name that no protocol has before anything else', async () => {
  await expect(turn({}, { protocol: 'loop' })).rejects.toMatchObject({
    code: 'PROTOCOL_UNSUPPORTED',
  });
});

it('runs a protocol of the caller', async () => {
  const standard = createStandardProtocol();
  const own: ProtocolStrategy = {
    getName: () => 'own',
    canHandle: () => true,
    executeStreaming: (context) => standard.executeStreaming(context),
  };
  const { before, done } = await turn({ protocol: own }, {});
  expect(before).toBe('own');
  expect(done).toMatchObject({ protocol: 'own', protocolReason: 'option', fullContent: 'Hello.' });
});

it('asks a protocol first whether it can work with the adapter', async () => {
  const strategy: ProtocolStrategy = {
    getName: () => 'picky',
    canHandle: () => false,
    executeStreaming: () => {
      throw new Error('not reached');
    },
  };
  const { done } = await turn({ protocol: strategy }, {});
  expect(done).toMatchObject({ status: 'error', fullContent: '' });
});

it('streams a file in the form in which the models of a protocol of the caller read', async () => {
  const controller = createControllerProtocol();
  const asText = vi.fn<NonNullable<ProtocolStrategy['contentMessages']>>(
    (history, tools) => controller.contentMessages?.(history, tools) ?? [],
  );
  const own: ProtocolStrategy = {
    getName: () => 'own',
    canHandle: () => true,
    contentMessages: asText,
    executeStreaming: (context) => controller.executeStreaming(context),
  };
  const says = (action: object) => textReply(JSON.stringify(action));
  const args = { intent: 'a file', target_file: 'a.txt', operation: 'create' };
  const adapter = createFakeAdapter(
    [
      says({ action: 'next_step', thinking: {}, tool: 'WritePlanTool_begin', args }),
      textReply('one\nDONE\n'),
      says({ action: 'complete', message: 'Written.' }),
    ],
    { structuredOutput: true },
  );
  const orion = await createOrion({ workspace, store: 'memory', adapter, protocol: own });
  try {
    const events: RunEvent[] = [];
    for await (const event of orion.runTurn({ content: 'Write a.txt' })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete', protocol: 'own' });
  } finally {
    await orion.close();
  }
  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('one\n');
  expect(asText).toHaveBeenCalledTimes(1);
  const { messages = [], options } = adapter.requests[1] ?? {};
  expect(options).not.toHaveProperty('tools');
  expect(messages).toEqual(asText.mock.results[0]?.value);
  expect(messages.map(({ role }) => role)).not.toContain('tool');
});
