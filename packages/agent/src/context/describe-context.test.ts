import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Tool } from '@orion/contracts';
import { collect, createFakeAdapter, textReply } from '@orion/testkit';
import type { FakeReply } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { bytesOfMessages, bytesOfTools } from './token-meter.ts';
import type { ContextReport } from './context-report.ts';
import { openOrion, temporaryDirectory } from '../testing/set-up.ts';

/** Hazard: what a person reads of the next request is not what is sent. */

const counted = (text: string, inputTokens: number): FakeReply => {
  const [first, ...rest] = textReply(text);
  if (first === undefined) throw new Error('a reply has an event');
  const usage = { inputTokens, outputTokens: 1, cachedTokens: 0, reasoningTokens: 0 };
  return [first, { type: 'usage', usage }, ...rest.filter((event) => event.type !== 'usage')];
};

async function openWith(replies: readonly FakeReply[], contextTokens: number | null = null) {
  const workspace = await temporaryDirectory();
  const adapter = createFakeAdapter(replies);
  const orion = await openOrion({ workspace, adapter, settings: { contextTokens } });
  return { workspace, adapter, orion };
}

const tokens = (report: ContextReport) =>
  Object.fromEntries(report.parts.map((part) => [part.name, part.tokens]));

describe('the next request of a conversation', () => {
  it('is described by its parts, which are what is then sent', async () => {
    const { workspace, adapter, orion } = await openWith([counted('Yes.', 5000), textReply('No.')]);
    await writeFile(join(workspace, 'AGENTS.md'), 'x'.repeat(3000));
    const before = await orion.describeContext({ content: 'y'.repeat(300) });
    expect(before).toMatchObject({ limit: null, calibrated: false, leftOutTurns: 0 });
    expect(tokens(before)).toMatchObject({ history: 0, prompt: 100 });
    expect(tokens(before)['instructions']).toBeGreaterThan(1000);
    expect(tokens(before)['instructions']).toBeLessThan(1050);
    expect(before.tokens).toBe(before.parts.reduce((sum, part) => sum + part.tokens, 0));

    const [first] = await collect(orion.runTurn({ content: 'y'.repeat(300) }));
    const after = await orion.describeContext({ conversationId: first?.conversationId ?? '' });
    // The provider counted 5,000 tokens of the request; the next one has its answer in it, too.
    expect(after.calibrated).toBe(true);
    expect(after.tokens).toBeGreaterThan(5000);
    expect(after.tokens).toBeLessThan(5010);

    await collect(orion.runTurn({ content: '', conversationId: first?.conversationId ?? '' }));
    const [, sent] = adapter.requests;
    const [system, ...history] = sent?.messages ?? [];
    const ratio = (name: string, bytes: number) => bytes / (tokens(after)[name] ?? 0);
    const ofHistory = ratio(
      'history',
      Buffer.byteLength(history.map((each) => each.content).join('')),
    );
    const ofTools = ratio('tools', Buffer.byteLength(JSON.stringify(sent?.options.tools)));
    const ofSystem =
      Buffer.byteLength(system?.content ?? '') /
      ['rules', 'files', 'instructions'].reduce((sum, name) => sum + (tokens(after)[name] ?? 0), 0);
    expect(ofTools).toBeCloseTo(ofSystem, 1);
    expect(ofHistory).toBeCloseTo(ofSystem, 0);
  });

  it('has the limit that is set, and as much of the history as it has room for', async () => {
    const long = 'z'.repeat(3000);
    const { orion } = await openWith([textReply(long), textReply(long)], 2000);
    const [first] = await collect(orion.runTurn({ content: 'one' }));
    const conversationId = first?.conversationId ?? '';
    await collect(orion.runTurn({ content: 'two', conversationId }));
    const report = await orion.describeContext({ conversationId });
    expect(report).toMatchObject({ limit: 2000, leftOutTurns: 1 });
    // "two" and its answer, at 3 bytes a token.
    expect(tokens(report)['history']).toBe(1001);
  });

  it('has the tools of its mode, and further ones of the host', async () => {
    const { orion } = await openWith([]);
    const act = tokens(await orion.describeContext({ mode: 'act' }));
    const plan = tokens(await orion.describeContext({ mode: 'plan' }));
    expect(plan['tools']).toBeLessThan(act['tools'] ?? 0);
    expect(plan['rules']).toBeLessThan(act['rules'] ?? 0);
    const tool: Tool = {
      effect: 'read',
      definition: { name: 'extra', description: 'x'.repeat(3000), parameters: { type: 'object' } },
      execute: () => Promise.resolve({ result: {} }),
    };
    const other = await openOrion({
      workspace: await temporaryDirectory(),
      adapter: createFakeAdapter([]),
      tools: [tool],
    });
    const more = tokens(await other.describeContext())['tools'] ?? 0;
    expect(more - (act['tools'] ?? 0)).toBeGreaterThan(1000);
  });

  it('counts the calls of the model and the results of tools', () => {
    const call = { id: '1', name: 'abc', arguments: '{"a":1}', state: 'complete' } as const;
    expect(
      bytesOfMessages([
        { role: 'user', content: 'é' },
        { role: 'assistant', content: 'xy', toolCalls: [call] },
        { role: 'tool', toolCallId: '1', toolName: 'abc', content: 'result' },
      ]),
    ).toBe(2 + 2 + 10 + 6);
    expect(bytesOfTools([])).toBe(0);
  });

  it('is not estimated by a request of a few words', async () => {
    const { orion } = await openWith([counted('Yes.', 99)]);
    await collect(orion.runTurn({ content: 'x' }));
    expect((await orion.describeContext()).calibrated).toBe(false);
  });

  it('is not described without a provider', async () => {
    const orion = await openOrion({ workspace: await temporaryDirectory() });
    await expect(orion.describeContext()).rejects.toMatchObject({ code: 'MODEL_MISSING' });
  });
});
