import { systemClock } from '@orion/contracts';
import { access } from 'node:fs/promises';
import { join } from 'node:path';

import type { LlmAdapter, LlmEvent, Message, RunEvent } from '@orion/contracts';
import { callsReply, createFakeAdapter, textReply } from '@orion/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { createOrion } from './create-orion.ts';
import type { Orion, OrionOptions } from './orion.ts';
import { openStore, type Store } from './index.ts';
import { temporaryDirectory, beginCall } from './testing/set-up.ts';

/**
 * Hazard: a turn ends in the middle of a file, and the next one reads that the file is being waited for, or that it
 * is not written although it is.
 */

let workspace: string;
let store: Store;
const opened: Orion[] = [];

beforeEach(async () => {
  workspace = await temporaryDirectory();
  store = openStore({ kind: 'memory' }, { clock: systemClock });
});

afterEach(async () => {
  for (const orion of opened.splice(0)) await orion.close();
  await store.close();
});

async function orionWith(options: Partial<OrionOptions>): Promise<Orion> {
  const orion = await createOrion({
    workspace,
    store,
    settings: { idleMs: 1, maxIdlePrompts: 0 },
    ...options,
  });
  opened.push(orion);
  return orion;
}

const BEGIN = callsReply([beginCall()]);

/** A model that opens a file and goes on with it in pieces; it never says anything else. */
function writer(content: readonly LlmEvent[]): LlmAdapter {
  return createFakeAdapter([BEGIN, content, textReply('Written.')]);
}

const WHOLE = textReply('one\n', 'two\n', 'DONE\n');
/** Without an end: the session is paused. */
const CUT: readonly LlmEvent[] = [
  { type: 'text-delta', text: 'one\n' },
  {
    type: 'error',
    error: { code: 'PROVIDER_AUTH', message: 'No.', retryable: false },
  },
];

async function readUntil(
  events: AsyncIterable<RunEvent>,
  isLast: (event: RunEvent, index: number) => boolean,
): Promise<readonly RunEvent[]> {
  const seen: RunEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (isLast(event, seen.length - 1)) break;
  }
  return seen;
}

/** What the next turn of the conversation sends as the answer to begin; undefined when there is no call either. */
async function answerTold(): Promise<Record<string, unknown> | undefined> {
  const adapter = createFakeAdapter([textReply('Next.')]);
  const orion = await orionWith({ adapter });
  await readUntil(orion.runTurn({ content: 'next', conversationId: 'c' }), () => false);
  const messages: readonly Message[] = adapter.requests[0]?.messages ?? [];
  const answer = messages.find((message) => message.role === 'tool');
  expect(messages.filter((message) => message.role === 'tool').length).toBe(
    messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
      .length,
  );
  return answer === undefined ? undefined : (JSON.parse(answer.content) as Record<string, unknown>);
}

const isWritten = (): Promise<boolean> =>
  access(join(workspace, 'a.txt')).then(
    () => true,
    () => false,
  );

it(
  'R160: whenever the reader of a turn leaves, the next turn reads what became of the file',
  { timeout: 60_000 },
  async () => {
    const told = new Set<unknown>();
    for (const content of [WHOLE, CUT]) {
      for (let last = 0; ; last += 1) {
        const orion = await orionWith({ adapter: writer(content) });
        const events = await readUntil(
          orion.runTurn({ content: 'write', conversationId: 'c' }),
          (event, index) => index === last || event.type === 'done',
        );
        const answer = await answerTold();
        const label = `${last}: ${JSON.stringify(events.at(-1))}`;
        expect(answer?.['stage'], label).toBeUndefined();
        const written = await isWritten();
        if (written || answer?.['status'] === 'written') {
          expect([written, answer?.['status']], label).toEqual([true, 'written']);
        }
        const left = (await orion.listSessions()).length;
        if (left > 0) expect(answer?.['session_id'], label).toBeTypeOf('string');
        told.add(answer?.['status']);
        for (const one of opened.splice(0)) await one.close();
        await store.close();
        workspace = await temporaryDirectory();
        store = openStore({ kind: 'memory' }, { clock: systemClock });
        if (events.at(-1)?.type === 'done') break;
      }
    }
    expect(told).toEqual(new Set(['interrupted', 'paused', 'written', undefined]));
  },
);

it('R160: a recovery that fails or is left leaves no promise behind', async () => {
  const first = await orionWith({ adapter: writer(CUT) });
  await readUntil(first.runTurn({ content: 'write', conversationId: 'c' }), () => false);
  const [session] = await first.listSessions();
  const sessionId = session?.session_id ?? '';
  await first.close();
  expect(await answerTold()).toMatchObject({ status: 'paused' });

  const unable = await orionWith({ provider: { type: 'nobody' } });
  const failed = await readUntil(unable.recoverSession({ sessionId }), () => false);
  expect(failed.at(-1)).toMatchObject({ type: 'done', status: 'error' });
  expect(await answerTold()).toMatchObject({ status: 'interrupted', session_id: sessionId });

  const refusing = await orionWith({});
  const refused = await readUntil(
    refusing.finalizeSession({ sessionId, answer: 'strip' }),
    () => false,
  );
  expect(refused.at(-1)).toMatchObject({ type: 'done', status: 'error' });
  expect(await answerTold()).toMatchObject({ status: 'interrupted', session_id: sessionId });

  const left = await orionWith({ adapter: createFakeAdapter([textReply('two\n', 'three\n')]) });
  await readUntil(left.recoverSession({ sessionId }), ({ type }) => type === 'write_chunk');
  expect(await answerTold()).toMatchObject({ session_id: sessionId });
  expect(await isWritten()).toBe(false);

  const last = await orionWith({});
  await readUntil(
    last.finalizeSession({ sessionId, answer: 'done' }),
    (event) => event.type === 'write_session' && event.receipt !== undefined,
  );
  expect(await isWritten()).toBe(true);
  expect(await answerTold()).toMatchObject({ status: 'written' });
});

it('R277: a conversation that was never told of a session keeps its turns when that is recovered', async () => {
  const first = await orionWith({ adapter: writer(CUT) });
  await readUntil(first.runTurn({ content: 'write', conversationId: 'c' }), () => false);
  const [session] = await first.listSessions();
  await first.close();
  const stored = await store.conversations.load('c');
  const others: readonly Message[] = [
    { role: 'user', content: 'another turn' },
    { role: 'assistant', content: 'its answer' },
  ];
  await store.conversations.save({
    conversationId: 'c',
    projectId: 'default',
    history: others,
    from: 0,
    openSessionId: null,
    revision: stored?.revision ?? 0,
  });

  const second = await orionWith({});
  const sessionId = session?.session_id ?? '';
  await readUntil(second.finalizeSession({ sessionId }), () => false);

  const history = (await store.conversations.load('c'))?.history ?? [];
  expect(history.slice(0, 2)).toEqual(others);
  expect(history.slice(2).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  expect(history.at(-1)?.content).toContain('"status":"written"');
});

it('a model is sent as much of a history as it has room for, and all of it stays', async () => {
  const long = 'word '.repeat(1000);
  const adapter: LlmAdapter & { readonly requests: readonly { messages: readonly Message[] }[] } = {
    ...createFakeAdapter([textReply(long), textReply(long), textReply('three')]),
    limits: { contextTokens: 4_000, outputTokens: 1_000, prefill: false },
  };
  const orion = await orionWith({ adapter });
  for (const content of ['one', 'two', 'three']) {
    await readUntil(orion.runTurn({ content, conversationId: 'c' }), () => false);
  }
  const [, , third] = adapter.requests;
  expect(third?.messages.slice(1).map(({ content }) => content)).toEqual(['two', long, 'three']);
  const history = (await store.conversations.load('c'))?.history ?? [];
  expect(history.map(({ content }) => content)).toEqual([
    'one',
    long,
    'two',
    long,
    'three',
    'three',
  ]);
});
