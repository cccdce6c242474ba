import type { Tool } from '@orion/contracts';
import { expect, test } from 'vitest';

import { PROTOCOLS, runTurn, say, step } from './testing/scripted-turn.ts';

/** A model may know a tool by another name: everybody else sees the tool's own (R280). */

const ALIAS = 'FileSystemTool_list_files';

test.for(PROTOCOLS)(
  '%s: an alias is the tool itself, for the duplicate signature, too, and only its name is kept',
  async (protocol) => {
    const { events, requests, orion } = await runTurn(protocol, [
      step(protocol, ALIAS, { path: '.' }),
      step(protocol, 'list_files', { path: './' }),
      say(protocol, 'Done.'),
    ]);
    expect(events.filter(({ type }) => type === 'tool_result')).toMatchObject([
      { toolName: 'list_files', ok: true },
      { toolName: 'list_files', ok: false },
    ]);
    expect(JSON.stringify(events)).toContain('DUPLICATE_BLOCKED');
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });

    const [first] = events;
    const { requestId = '', conversationId = '' } = first ?? {};
    const traced = await orion.traces.getTrace(requestId);
    expect(traced.length).toBeGreaterThan(5);
    const stored = await orion.store.conversations.load(conversationId);
    expect(JSON.stringify(stored)).toContain('list_files');
    for (const kept of [events, traced, stored]) {
      expect(JSON.stringify(kept)).not.toContain(ALIAS);
    }
    for (const request of requests) {
      const sent = JSON.stringify(request);
      expect(sent).not.toContain(ALIAS);
      expect(sent).toContain('list_files');
    }
  },
);

test.for(PROTOCOLS)(
  '%s: PLAN mode accepts an alias, and no name that begins like one',
  async (protocol) => {
    const { events } = await runTurn(
      protocol,
      [
        step(protocol, ALIAS, { path: '.' }),
        step(protocol, `${ALIAS}_and_delete`, {}),
        say(protocol, 'Done.'),
      ],
      [],
      { mode: 'plan' },
    );
    expect(events.filter(({ type }) => type === 'tool_result')).toMatchObject([
      { toolName: 'list_files', ok: true },
      { toolName: `${ALIAS}_and_delete`, ok: false },
    ]);
  },
);

test('a tool of a host with the name of an alias is that tool', async () => {
  const own: Tool = {
    definition: { name: ALIAS, description: 'Its own.', parameters: { type: 'object' } },
    effect: 'read',
    execute: () => Promise.resolve({ result: 'own' }),
  };
  const { events } = await runTurn(
    'standard',
    [step('standard', ALIAS, {}), say('standard', 'Done.')],
    [own],
    { mode: 'plan' },
  );
  expect(events.filter(({ type }) => type === 'tool_result')).toMatchObject([
    { toolName: ALIAS, ok: true },
  ]);
});
