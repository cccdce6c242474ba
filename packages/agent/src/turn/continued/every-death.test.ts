import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { OrionError, systemClock } from '@orion/contracts';
import type { RunEvent, Tool } from '@orion/contracts';
import { startScriptedProvider } from '@orion/llm-adapters/scripted';
import type { ScriptedProvider } from '@orion/llm-adapters/scripted';
import { expectValidHistory } from '@orion/testkit';
import { openStore } from '@orion/trace-store';
import type { Store } from '@orion/trace-store';
import fastCheck from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { createOwner } from '../../testing/mortal-owner.ts';
import type { Death, Effect } from '../../testing/mortal-owner.ts';
import { openWorkspace, temporaryDirectory } from '../../testing/set-up.ts';

/** Hazard: an owner of a turn dies, and something of the turn is lost, or happens twice. */

const A = 'one\ntwo\nthree\n';
const B = 'first\n\0\nlast\n';
const TARGETS = ['a.txt', 'b.txt'] as const;

let provider: ScriptedProvider;

beforeAll(async () => {
  const document = (target: string, text: string) => ({
    reply: { document: { target, content: { kind: 'text' as const, text } } },
  });
  const call = (name: string, args: Readonly<Record<string, unknown>>) => ({
    name,
    arguments: args,
  });
  const begin = (target_file: string) =>
    call('WritePlanTool_begin', { intent: 'a test', target_file, operation: 'create' });
  provider = await startScriptedProvider({
    shape: { chunk: 6 },
    behaviours: [
      { when: { lastUser: 'not valid text', toolChoice: 'none' }, reply: { text: '#1: -' } },
      document('a.txt', A),
      document('b.txt', B),
      {
        when: { toolResults: 0 },
        reply: {
          text: 'I look around.',
          toolCalls: [call('Note_add', { n: 1 }), call('Peek', {}), call('Note_add', { n: 2 })],
        },
      },
      { when: { toolResults: 3 }, reply: { toolCalls: [begin('a.txt')] } },
      { when: { toolResults: 4 }, reply: { text: 'And now b.', toolCalls: [begin('b.txt')] } },
      { reply: { text: 'All is written.' } },
    ],
  });
});
afterAll(() => provider.close());

type Ran = { readonly notes: readonly number[]; readonly peeks: number };

async function runTurn(deaths: readonly Death[]): Promise<{
  readonly effects: readonly (readonly Effect[])[];
  readonly ran: Ran;
  readonly store: Store;
  readonly root: string;
}> {
  const root = await temporaryDirectory();
  const store = openStore({ kind: 'memory' }, { clock: systemClock });
  const notes: number[] = [];
  let peeks = 0;
  const tools: readonly Tool[] = [
    {
      definition: { name: 'Note_add', description: 'adds a note', parameters: { type: 'object' } },
      effect: 'write',
      execute: ({ n }) => {
        notes.push(Number(n));
        return Promise.resolve({ result: 'added' });
      },
    },
    {
      definition: { name: 'Peek', description: 'looks', parameters: { type: 'object' } },
      effect: 'read',
      execute: () => {
        peeks += 1;
        return Promise.resolve({ result: 'seen' });
      },
    },
  ];
  const effects: (readonly Effect[])[] = [];
  for (const death of [...deaths, null]) {
    const owner = await createOwner({
      root,
      store,
      turnId: 't',
      tools,
      death,
      provider: { type: 'openai', model: 'scripted', baseUrl: provider.url },
    });
    effects.push(owner.effects);
    try {
      const events = await owner.run({ content: 'Write both.', conversationId: 'c' });
      if (events?.at(-1)?.type === 'done') break;
    } catch (error) {
      if (OrionError.isInstance(error) && error.code === 'TURN_FINISHED') break;
      throw error;
    }
    // What the operating system had begun for it ends.
    await pause(2);
  }
  return { effects, ran: { notes, peeks }, store, root };
}

async function expectWhole({
  ran,
  store,
  root,
}: Awaited<ReturnType<typeof runTurn>>): Promise<void> {
  const entries = await store.turnLog.read('t', 0, 10_000);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
  expect(entries.filter(({ kind }) => kind === 'done')).toHaveLength(1);
  expect(entries.at(-1)).toMatchObject({ kind: 'done', data: { status: 'complete' } });
  expect(entries.at(-1)?.data).toMatchObject({
    fullContent: 'I look around.And now b.All is written.',
  });
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe(A);
  expect(await readFile(join(root, 'b.txt'), 'utf8')).toBe(B.replace('\0', '-'));
  expect(new Set(ran.notes).size).toBe(ran.notes.length);
  const results = entries.flatMap(({ kind, data }) =>
    kind === 'tool_result' ? [data as Extract<RunEvent, { type: 'tool_result' }>] : [],
  );
  // What has an effect has either run, or is not known to have run.
  for (const { toolName, error } of results) {
    if (error !== undefined)
      expect([toolName, error.code]).toEqual(['Note_add', 'UNKNOWN_OUTCOME']);
  }
  const known = results.filter(({ toolName, ok }) => toolName === 'Note_add' && ok);
  expect(known.length).toBeLessThanOrEqual(ran.notes.length);
  const receipts = entries.flatMap(({ kind, data }) => {
    const { receipt } = data as { readonly receipt?: { readonly target_file: string } };
    return kind === 'write_session' && receipt !== undefined ? [receipt.target_file] : [];
  });
  expect(receipts).toEqual(TARGETS);
  const answered = results.map(({ callId }) => callId);
  expect(answered).toHaveLength(5);
  expect(new Set(answered).size).toBe(answered.length);
  const conversation = await store.conversations.load('c');
  expectValidHistory(conversation?.history ?? []);
  expect(conversation?.openSessionId).toBeNull();
  expect(conversation?.history.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'tool',
    'tool',
    'assistant',
    'tool',
    'assistant',
    'tool',
    'assistant',
  ]);
  const workspace = await openWorkspace(root, systemClock);
  expect(await workspace.sessions.list()).toEqual([]);
  expect(provider.requests.flatMap(({ violations }) => violations)).toEqual([]);
}

it('a turn that nobody disturbs', async () => {
  const turn = await runTurn([]);
  await expectWhole(turn);
  expect(turn.ran).toEqual({ notes: [1, 2], peeks: 1 });
});

it('an owner dies once its file is written, and the next one once the session has gone', async () => {
  const deaths = (['commit', 'remove'] as const).map((name): Death => ({
    at: (effect) => effect.name === name,
    after: true,
  }));
  await expectWhole(await runTurn(deaths));
});

it('each of several owners dies at any place, before or after what it does there', async () => {
  const places = (await runTurn([])).effects[0]?.length ?? 0;
  const death = fastCheck.record({
    at: fastCheck.nat({ max: places - 1 }),
    after: fastCheck.boolean(),
  });
  await fastCheck.assert(
    fastCheck.asyncProperty(
      fastCheck.array(death, { minLength: 1, maxLength: 3 }),
      async (deaths) => expectWhole(await runTurn(deaths)),
    ),
    { numRuns: 8, endOnFailure: true },
  );
}, 30_000);

const { ORION_DEATHS_EVERY: every, ORION_DEATHS_SEED: seed = '0' } = process.env;

it.runIf(every !== undefined)(
  'an owner dies at every place, and the next one at every third',
  async () => {
    const { effects } = await runTurn([]);
    const moments = (effects[0] ?? []).flatMap((_, at) => [
      { at, after: false },
      { at, after: true },
    ]);
    const plans = moments.flatMap((first, index) => [
      [first],
      ...moments.filter((_, next) => next % 3 === index % 3).map((next) => [first, next]),
    ]);
    const chosen = plans.filter((_, index) => (index + Number(seed)) % Number(every) === 0);
    for (const deaths of chosen) {
      try {
        await expectWhole(await runTurn(deaths));
      } catch (error) {
        throw new Error(`with the deaths ${JSON.stringify(deaths)}`, { cause: error });
      }
    }
    process.stdout.write(`${chosen.length} of ${plans.length} turns whose owners died\n`);
    expect(chosen.length).toBeGreaterThan(0);
  },
  7_200_000,
);
