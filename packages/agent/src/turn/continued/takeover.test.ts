import { createHash } from 'node:crypto';
import { copyFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { OrionError, systemClock } from '@orion/contracts';
import type { JsonObject, Message, RunEvent } from '@orion/contracts';
import {
  callsReply,
  createFakeAdapter,
  expectValidHistory,
  textReply,
  toolCall,
} from '@orion/testkit';
import type { FakeAdapter, FakeReply } from '@orion/testkit';
import { expect, it, vi } from 'vitest';

import { OneLookProtocol } from '../../testing/one-look-protocol.ts';
import { beginCall, openWorkspace, RECORD } from '../../testing/set-up.ts';
import { onDisk, openTurn, saying, storing, text, tool } from '../../testing/taken-turn.ts';
import type { TakenTurn } from '../../testing/taken-turn.ts';

/** Hazard: the next owner of a turn begins in the wrong place: it repeats an effect, or leaves something out. */

const types = (events: readonly RunEvent[] | null): readonly string[] =>
  (events ?? []).map(({ type }) => type);

const ofType = <Type extends RunEvent['type']>(
  events: readonly RunEvent[],
  type: Type,
): readonly Extract<RunEvent, { type: Type }>[] =>
  events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type);

/** Every number once, one `done` at the end, and a history that a provider takes. */
async function expectWhole(turn: TakenTurn): Promise<readonly RunEvent[]> {
  const log = await turn.log();
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  expect(types(log).filter((type) => type === 'done')).toHaveLength(1);
  expect(log.at(-1)?.type).toBe('done');
  expectValidHistory((await turn.store.conversations.load('c'))?.history ?? []);
  return log;
}

const contents = (messages: readonly Message[] = []): readonly string[] =>
  messages.slice(1).map(({ role, content }) => `${role}: ${content}`);

it('begins where nothing was said yet', async () => {
  const turn = await openTurn();
  await turn.run(await turn.owner([], { death: { at: 0, after: false } }));
  const second = await turn.owner([textReply('hello')]);
  await turn.run(second);
  const log = await expectWhole(turn);
  expect(types(log)).toEqual(['phase', 'chunk', 'done']);
  expect(second.adapter.requests).toHaveLength(1);
});

it('asks again where the model was within a message, and says which text is void', async () => {
  const turn = await openTurn();
  await turn.run(
    await turn.owner([saying(text('half an ans'))], {
      death: { at: storing('chunk'), after: true },
    }),
  );
  const second = await turn.owner([textReply('an answer')]);
  const events = await turn.run(second);
  const log = await expectWhole(turn);
  expect(types(log)).toEqual(['phase', 'chunk', 'rewind', 'phase', 'chunk', 'done']);
  expect(log[2]).toMatchObject({ type: 'rewind', toSeq: 1, seq: 3 });
  // It is the same phase again.
  expect(log.map(({ phaseIndex }) => phaseIndex)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(events?.at(-1)).toMatchObject({ fullContent: 'an answer', status: 'complete' });
  expect(contents(second.adapter.requests[0]?.messages)).toEqual(['user: q']);
  expect((await turn.store.conversations.load('c'))?.history.map(({ content }) => content)).toEqual(
    ['q', 'an answer'],
  );
});

it('asks again for the last answer of a controller that was stopped', async () => {
  const turn = await openTurn([tool('Note', 'read')]);
  const step = { tool_name: 'Note', arguments: '{}' };
  const action = { action: 'next_step', thinking: { task: 't' }, question: '', context: '', step };
  const repeats = Array.from({ length: 4 }, () => textReply(JSON.stringify(action)));
  const adapter = (...replies: readonly FakeReply[]): FakeAdapter =>
    createFakeAdapter(replies, { structuredOutput: true });
  const says = (message: string) => textReply(JSON.stringify({ action: 'complete', message }));
  const owner = { protocol: 'controller' } as const;
  await turn.run(
    await turn.owner([], {
      ...owner,
      adapter: adapter(...repeats, says('The answer.')),
      death: { at: storing('done'), after: false },
    }),
  );
  expect(JSON.stringify(await turn.log())).toContain('The answer.');
  await turn.run(await turn.owner([], { ...owner, adapter: adapter(says('The answer.')) }));
  expect((await expectWhole(turn)).at(-1)).toMatchObject({
    status: 'stopped',
    fullContent: 'The answer.',
  });
});

it.each(['standard', 'two-stage'] as const)(
  'asks again for the last answer of a turn that was stopped (%s)',
  async (protocol) => {
    const turn = await openTurn([tool('Note', 'read')]);
    const repeats = Array.from({ length: 4 }, (_, at) =>
      callsReply([toolCall(`${at}`, 'Note', { n: 1 })]),
    );
    const first = await turn.owner([...repeats, saying(text('The answer'))], {
      protocol,
    });
    const running = turn.run(first);
    await expect.poll(async () => JSON.stringify(await turn.log())).toContain('The answer');
    first.kill();
    await running;
    const second = await turn.owner([textReply('The answer.')], { protocol });
    await turn.run(second);
    const log = await expectWhole(turn);
    expect(types(log)).toContain('rewind');
    expect(log.at(-1)).toMatchObject({
      status: 'stopped',
      stopReason: 'duplicates',
      fullContent: 'The answer.',
    });
  },
);

it('runs calls that were announced, without asking the model again', async () => {
  const turn = await openTurn([tool('Note', 'write')]);
  const calls = [toolCall('1', 'Note', { n: 1 }), toolCall('2', 'Note', { n: 2 })];
  await turn.run(
    await turn.owner([callsReply(calls, 'I note it.')], {
      death: { at: storing('tool_calls'), after: true },
    }),
  );
  expect(turn.ran).toEqual({});
  const second = await turn.owner([textReply('noted')]);
  await turn.run(second);
  const log = await expectWhole(turn);
  expect(turn.ran).toEqual({ Note: [{ n: 1 }, { n: 2 }] });
  expect(types(log).filter((type) => type === 'tool_calls')).toHaveLength(1);
  expect(types(log)).not.toContain('rewind');
  expect(log.at(-1)).toMatchObject({ fullContent: 'I note it.noted' });
  expect(log.map(({ phaseIndex, cycleIndex }) => [phaseIndex, cycleIndex])).toEqual([
    [0, 0],
    [0, 0],
    [0, 0],
    [1, 0],
    [1, 1],
    [1, 2],
    [2, 2],
    [2, 2],
    [2, 2],
  ]);
  expect(contents(second.adapter.requests[0]?.messages)).toEqual([
    'user: q',
    'assistant: I note it.',
    'tool: "ran"',
    'tool: "ran"',
  ]);
});

it.each(['two-stage', 'controller'] as const)(
  'continues %s in the middle of a call, and within a message',
  async (protocol) => {
    const says = (content: string) =>
      protocol === 'controller'
        ? JSON.stringify({ action: 'complete', message: content })
        : content;
    const calls =
      protocol === 'controller'
        ? textReply(
            JSON.stringify({
              action: 'next_step',
              thinking: { task: 't' },
              question: '',
              context: '',
              step: { tool_name: 'Note', arguments: '{"n":1}' },
            }),
          )
        : callsReply([toolCall('1', 'Note', { n: 1 })]);
    const turn = await openTurn([tool('Note', 'write')]);
    const adapter = (...replies: readonly FakeReply[]): FakeAdapter =>
      createFakeAdapter(replies, { structuredOutput: true });
    const deaths = [
      { adapter: adapter(calls), death: { at: storing('tool_calls'), after: true } },
      { adapter: adapter(), death: { at: storing('tool_result'), after: true } },
      { adapter: adapter(saying(text('hal'))), death: { at: storing('phase'), after: true } },
    ];
    for (const one of deaths)
      expect(await turn.run(await turn.owner([], { protocol, ...one }))).toBeNull();
    const last = { protocol, adapter: adapter(textReply(says('noted'))) };
    const events = await turn.run(await turn.owner([], last));
    expect(events?.at(-1)).toMatchObject({ status: 'complete', fullContent: 'noted', protocol });
    expect(turn.ran).toEqual({ Note: [{ n: 1 }] });
    const log = await expectWhole(turn);
    expect(ofType(log, 'tool_result')).toMatchObject([{ ok: true }]);
  },
);

it('keeps the results that are stored, and goes on with the next call', async () => {
  const turn = await openTurn([tool('Look', 'read'), tool('Note', 'write')]);
  const calls = [toolCall('1', 'Look'), toolCall('2', 'Note'), toolCall('3', 'Look', { again: 1 })];
  let results = 0;
  await turn.run(
    await turn.owner([callsReply(calls)], {
      death: {
        at: (effect) => storing('tool_result')(effect) && (results += 1) === 2,
        after: true,
      },
    }),
  );
  await turn.run(await turn.owner([textReply('seen')]));
  const log = await expectWhole(turn);
  expect(turn.ran).toEqual({ Look: [{}, { again: 1 }], Note: [{}] });
  expect(ofType(log, 'tool_result').map(({ callId, ok }) => [callId, ok])).toEqual([
    ['1', true],
    ['2', true],
    ['3', true],
  ]);
});

it('runs a tool again that only reads, and no other: model and person read that nobody knows', async () => {
  let kill = (): void => undefined;
  const dying = (): Promise<never> => {
    kill();
    return new Promise(() => undefined);
  };
  for (const effect of ['read', 'write'] as const) {
    let isFirst = true;
    const turn = await openTurn([
      tool('Do', effect, () => {
        if (!isFirst) return Promise.resolve({ result: 'ran' });
        isFirst = false;
        return dying();
      }),
    ]);
    const first = await turn.owner([callsReply([toolCall('1', 'Do')])]);
    kill = () => first.kill();
    await turn.run(first);
    const second = await turn.owner([textReply('I see')]);
    await turn.run(second);
    const log = await expectWhole(turn);
    const [result] = ofType(log, 'tool_result');
    const told = contents(second.adapter.requests[0]?.messages).at(-1);
    if (effect === 'read') {
      expect(turn.ran['Do']).toHaveLength(2);
      expect(result).toMatchObject({ ok: true });
      expect(told).toBe('tool: "ran"');
    } else {
      expect(turn.ran['Do']).toHaveLength(1);
      expect(result).toMatchObject({ ok: false, error: { code: 'UNKNOWN_OUTCOME' } });
      expect(told).toContain('UNKNOWN_OUTCOME');
    }
  }
});

it('a large result that is stored twice is there once', async () => {
  const look = tool('Look', 'read', () => Promise.resolve({ result: 'x'.repeat(10_000) }));
  const turn = await openTurn([look]);
  const calls = callsReply([toolCall('1', 'Look'), toolCall('2', 'Look', { n: 2 })]);
  await turn.run(
    await turn.owner([calls], { death: { at: storing('tool_result'), after: false } }),
  );
  await turn.run(await turn.owner([textReply('I see')]));
  await expectWhole(turn);
  expect(turn.ran['Look']).toHaveLength(3);
  expect(await turn.store.toolOutputs.list({ conversation_id: 'c' })).toMatchObject({ total: 2 });
});

it('a call whose outcome is unknown may be made again on purpose, once', async () => {
  const turn = await openTurn([tool('Do', 'write', () => new Promise(() => undefined))]);
  const first = await turn.owner([callsReply([toolCall('1', 'Do')])]);
  const running = turn.run(first);
  await expect.poll(() => turn.ran['Do']?.length).toBe(1);
  first.kill();
  await running;
  const again = await openAgain(turn);
  expect(again).toEqual([
    ['1', 'UNKNOWN_OUTCOME'],
    ['2', undefined],
  ]);
});

it('the model may look at what a call has done whose outcome is unknown', async () => {
  let content = 'old';
  const look = tool('Look', 'read', () => Promise.resolve({ result: content }));
  const change = tool('Do', 'write', () => {
    content = 'new';
    return new Promise(() => undefined);
  });
  const turn = await openTurn([look, change]);
  const first = await turn.owner([callsReply([toolCall('1', 'Look'), toolCall('2', 'Do')])]);
  const running = turn.run(first);
  await expect.poll(() => content).toBe('new');
  first.kill();
  await running;
  const second = await turn.owner([callsReply([toolCall('3', 'Look')]), textReply('done')]);
  await turn.run(second);
  await expectWhole(turn);
  const [asked, told] = second.adapter.requests.map(({ messages }) => contents(messages).at(-1));
  expect(asked).toContain('UNKNOWN_OUTCOME');
  expect(told).toBe('tool: "new"');
});

/** The model makes the call once more, of a tool that now answers. */
async function openAgain(turn: TakenTurn): Promise<readonly unknown[]> {
  const second = await turn.owner([callsReply([toolCall('2', 'Do')]), textReply('done')], {
    tools: [tool('Do', 'write')],
  });
  await turn.run(second);
  return ofType(await expectWhole(turn), 'tool_result').map(({ callId, error }) => [
    callId,
    error?.code,
  ]);
}

it('goes on with a file that was being streamed; the events have every byte of it once', async () => {
  const turn = await openTurn();
  const first = await turn.owner([
    callsReply([beginCall()]),
    saying(text('one\ntwo\n'), text('thr')),
  ]);
  const running = turn.run(first);
  await expect.poll(async () => types(await turn.log())).toContain('write_chunk');
  await expect.poll(() => streamed(turn)).toContain('two');
  first.kill();
  await running;
  const [session] = await (await turn.owner([])).orion.listSessions();
  expect(session).toMatchObject({ status: 'orphan' });
  const kept = await turn.store.conversations.load('c');
  expect(kept?.openSessionId).toBe(session?.session_id);
  expectValidHistory(kept?.history ?? []);
  const second = await turn.owner([textReply('one\ntwo\nthree\nDONE\n'), textReply('written')]);
  await turn.run(second);
  const log = await expectWhole(turn);
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  expect(second.adapter.requests).toHaveLength(2);
  expect(streamedBytes(log)).toBe(Buffer.byteLength('one\ntwo\nthree\n'));
  expect((await turn.store.conversations.load('c'))?.openSessionId).toBeNull();
});

it.each(['more', 'less'] as const)(
  'corrects the events where the disk has %s than they say',
  async (has) => {
    const turn = await openTurn();
    const replies = [callsReply([beginCall()]), saying(text('one\ntwo\n'), text('thr'))];
    const isChunk = storing('write_chunk');
    const first = await turn.owner(replies, {
      death: { at: isChunk, after: has === 'less' },
    });
    await turn.run(first);
    await expect.poll(() => streamed(turn)).toContain('two');
    if (has === 'less') {
      const [session] = await (await turn.owner([])).orion.listSessions();
      await truncate(join(session?.session_dir ?? '', 'content.txt'), 4);
    }
    await turn.run(await turn.owner([textReply('one\ntwo\nthree\nDONE\n'), textReply('written')]));
    const log = await expectWhole(turn);
    expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    expect(streamedBytes(log)).toBe(14);
    expect(types(log).includes('write_rewind')).toBe(has === 'less');
  },
);

it('gives a session back that it cannot go on with', async () => {
  const turn = await openTurn();
  const isSession = storing('write_session');
  await turn.run(await turn.owner(FILE, { death: { at: isSession, after: true } }));
  const list = () => Promise.reject(new Error('the store is damaged'));
  const approvals = { ...turn.store.approvals, list };
  const second = await turn.owner([], { approve: 'ask', store: { ...turn.store, approvals } });
  expect((await turn.run(second))?.at(-1)).toMatchObject({ type: 'done', status: 'error' });
  // Nobody but this owner could have done it: until then it is open in its process.
  expect(second.effects.map(({ name }) => name)).toContain('release');
});

/** Of the chunks, each of which begins where the one before it has ended. */
function streamedBytes(log: readonly RunEvent[]): number {
  let bytes = 0;
  for (const event of log) {
    if (event.type === 'write_rewind') bytes = event.toOffset;
    if (event.type !== 'write_chunk') continue;
    expect(event.offset).toBe(bytes);
    bytes += event.length;
  }
  return bytes;
}

async function streamed(turn: TakenTurn): Promise<string> {
  const { orion } = await turn.owner([]);
  const [session] = await orion.listSessions();
  if (session === undefined) return '';
  let saved = '';
  for await (const bytes of orion.readSession(session.session_id))
    saved += Buffer.from(bytes).toString();
  return saved;
}

const FILE = [callsReply([beginCall()]), textReply('one\ntwo\n', 'DONE\n')] as const;

it.each([
  ['between its record and the rename', onDisk('recordWriting')],
  ['after the rename', onDisk('commit')],
  ['before its session is gone', onDisk('remove'), false],
  ['after its session has gone', onDisk('remove')],
])('finishes a commit whose owner died %s, with one receipt', async (_, at, after = true) => {
  const turn = await openTurn();
  await turn.run(await turn.owner(FILE, { death: { at, after } }));
  const second = await turn.owner([textReply('written')]);
  await turn.run(second);
  const log = await expectWhole(turn);
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  // The model is told of the file, and not asked for it again.
  expect(second.adapter.requests).toHaveLength(1);
  expect(contents(second.adapter.requests[0]?.messages).at(-1)).toContain('"status":"written"');
  const receipts = ofType(log, 'write_session').filter(({ receipt }) => receipt !== undefined);
  expect(receipts).toHaveLength(1);
  expect(receipts[0]).toMatchObject({ status: 'done', receipt: { bytes: 8, lines: 2 } });
  expect(await second.orion.listSessions()).toEqual([]);
});

it('finds the file that it has written where the store forgot that and its session is gone', async () => {
  const turn = await openTurn();
  await turn.run(await turn.owner(FILE, { death: { at: onDisk('remove'), after: true } }));
  const second = await turn.owner([textReply('written')], {
    store: forgetful(turn),
    speed: 100,
    // What says nothing of the file is asked again.
    prepare: (workspace) =>
      void vi
        .spyOn(workspace, 'checkTarget')
        .mockRejectedValueOnce(
          new OrionError({ code: 'RESOURCE_BUSY', message: 'no', retryable: true }),
        ),
  });
  await turn.run(second);
  const log = await expectWhole(turn);
  expect(log.at(-1)).toMatchObject({ status: 'complete' });
  expect(contents(second.adapter.requests[0]?.messages).at(-1)).toContain('"status":"written"');
  const receipts = ofType(log, 'write_session').flatMap(({ receipt }) => receipt ?? []);
  expect(receipts).toMatchObject([
    { target_file: 'a.txt', bytes: 8, lines: 2, eol: 'lf', operation: 'create' },
  ]);
  expect(receipts[0]?.warnings).toContain('receipt_from_the_file');
  expect(receipts[0]?.sha256).toBe(
    createHash('sha256')
      .update(await readFile(join(turn.root, 'a.txt')))
      .digest('hex'),
  );
});

it('writes no file again that was written and changed since, though the store forgot that', async () => {
  const turn = await openTurn();
  await turn.run(await turn.owner(FILE, { death: { at: onDisk('remove'), after: true } }));
  await writeFile(join(turn.root, 'a.txt'), 'of a person\n');
  const second = await turn.owner([...FILE, textReply('written')], { store: forgetful(turn) });
  await turn.run(second);
  expect((await expectWhole(turn)).at(-1)).toMatchObject({ status: 'error' });
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('of a person\n');
  expect(second.adapter.requests).toEqual([]);
});

/** A store that went back to where the file was being written. */
function forgetful({ store }: TakenTurn): TakenTurn['store'] {
  const { turnLog } = store;
  return {
    ...store,
    turnLog: {
      ...turnLog,
      async acquire(...which: Parameters<typeof turnLog.acquire>) {
        const claim = await turnLog.acquire(...which);
        const { calls, ...rest } = claim.checkpoint as { calls: object };
        return { ...claim, checkpoint: { ...rest, calls: { ...calls, receipt: undefined } } };
      },
    },
  } as unknown as TakenTurn['store'];
}

it('leaves the session of a written file to the owner that has taken the turn meanwhile (O5)', async () => {
  const turn = await openTurn();
  const { turnLog } = turn.store;
  let isTaken = false;
  const store = {
    ...turn.store,
    turnLog: {
      ...turnLog,
      async appendAll(appends: Parameters<typeof turnLog.appendAll>[0]) {
        const hasReceipt = appends.some(({ checkpoint }) =>
          JSON.stringify(checkpoint ?? '').includes('sha256'),
        );
        if (hasReceipt && !isTaken) {
          isTaken = true;
          await turnLog.acquire('t', null);
        }
        return turnLog.appendAll(appends);
      },
    },
  };
  const first = await turn.owner(FILE, { store });
  await expect(turn.run(first)).rejects.toMatchObject({ code: 'FENCED' });
  await first.orion.close();
  expect(isTaken).toBe(true);
  const second = await turn.owner([textReply('written')]);
  expect(await second.orion.listSessions()).toHaveLength(1);
  await turn.run(second);
  const log = await expectWhole(turn);
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  const receipts = ofType(log, 'write_session').filter(({ receipt }) => receipt !== undefined);
  expect(receipts).toHaveLength(1);
});

it('does nothing after a yes to a turn that somebody else has taken meanwhile', async () => {
  const turn = await openTurn();
  const first = await turn.owner(FILE, { approve: 'ask' });
  const running = turn.run(first);
  const { approvals } = turn.store;
  const waiting = () => approvals.list({ turnId: 't', state: 'pending', limit: 1 });
  await expect.poll(waiting).toHaveLength(1);
  await turn.store.turnLog.acquire('t', null);
  const [asked] = await waiting();
  const { approvalId, hash } = asked ?? { approvalId: '', hash: '' };
  await first.orion.approvals.decide(approvalId, { decision: 'yes', hash });
  await expect(running).rejects.toMatchObject({ code: 'FENCED' });
  await first.orion.close();
  await expect(readFile(join(turn.root, 'a.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
  const second = await turn.owner([textReply('written')], { approve: 'ask' });
  await turn.run(second);
  const log = await expectWhole(turn);
  expect(types(log).filter((type) => type.startsWith('approval'))).toEqual([
    'approval_requested',
    'approval_decided',
  ]);
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
});

it('leaves no session behind of a begin that nobody was told of', async () => {
  const turn = await openTurn();
  await turn.run(await turn.owner(FILE, { death: { at: onDisk('begin'), after: true } }));
  const second = await turn.owner(FILE.slice(1).concat([textReply('written')]));
  await turn.run(second);
  await expectWhole(turn);
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  expect(await second.orion.listSessions()).toEqual([]);
});

it('puts away what an owner has streamed while nobody could be told of its session', async () => {
  const turn = await openTurn();
  await turn.run(await turn.owner(FILE, { death: { at: onDisk('begin'), after: true } }));
  const { sessions } = await openWorkspace(turn.root, systemClock);
  const [left] = await sessions.list();
  const { handle } = await sessions.claim(left?.session_id ?? '');
  handle.append('one\n');
  await handle.save(RECORD);
  await handle.release();
  const second = await turn.owner([FILE[1], textReply('written')]);
  await turn.run(second);
  await expectWhole(turn);
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  expect(await second.orion.listSessions()).toEqual([]);
  expect(await readdir(join(turn.root, '.orion', 'attic'))).toEqual([handle.id]);
});

it.each([
  ['list', 'STORE_UNAVAILABLE'],
  ['claim', 'STORE_UNAVAILABLE'],
  // Its owner has not noticed yet.
  ['claim', 'SESSION_BUSY'],
  // Its owner has removed it meanwhile.
  ['claim', 'SESSION_NOT_FOUND'],
] as const)('%s that fails with %s is no result of a begin', async (method, code) => {
  const turn = await openTurn();
  await turn.run(await turn.owner(FILE, { death: { at: onDisk('begin'), after: true } }));
  const error = new OrionError({ code, message: 'no', retryable: code === 'STORE_UNAVAILABLE' });
  const second = await turn.owner(FILE.slice(1).concat([textReply('written')]), {
    speed: 100,
    prepare: ({ sessions }) => void vi.spyOn(sessions, method).mockRejectedValueOnce(error),
  });
  await turn.run(second);
  const results = ofType(await expectWhole(turn), 'tool_result');
  expect(results).toMatchObject([{ ok: true }]);
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  const left = await second.orion.listSessions();
  expect(left).toHaveLength(code === 'SESSION_NOT_FOUND' ? 1 : 0);
});

it('waits for a store that is away, and then goes on with the file', async () => {
  const turn = await openTurn();
  await turn.run(await turn.owner(FILE, { death: { at: storing('write_chunk'), after: true } }));
  const code = 'STORE_UNAVAILABLE';
  const error = new OrionError({ code, message: 'no', retryable: true });
  const second = await turn.owner([FILE[1], textReply('written')], {
    speed: 100,
    prepare: ({ sessions }) => void vi.spyOn(sessions, 'claim').mockRejectedValueOnce(error),
  });
  await turn.run(second);
  expect((await expectWhole(turn)).at(-1)).toMatchObject({ status: 'complete' });
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
});

it('lets the model begin a file again whose text is lost, and says what has become of it', async () => {
  const turn = await openTurn();
  const isChunk = storing('write_chunk');
  await turn.run(await turn.owner(FILE, { death: { at: isChunk, after: true } }));
  const [session] = await (await turn.owner([])).orion.listSessions();
  await rm(session?.session_dir ?? '', { recursive: true });
  const second = await turn.owner([...FILE, textReply('written')]);
  await turn.run(second);
  const log = await expectWhole(turn);
  expect(log.at(-1)).toMatchObject({ status: 'complete' });
  const told = contents(second.adapter.requests[0]?.messages).at(-1);
  expect(told).toContain(
    '"message":"The store has lost the text of this file; nothing was written."',
  );
  const lost = ofType(log, 'write_session').findLast(
    ({ sessionId }) => sessionId === session?.session_id,
  );
  expect(lost).toMatchObject({ status: 'aborted', code: 'SESSION_NOT_FOUND', bytes: 0 });
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
});

it('goes on behind the end of a file that was lost, whose owner died at once', async () => {
  const turn = await openTurn();
  await turn.run(await turn.owner(FILE, { death: { at: storing('write_chunk'), after: true } }));
  const [session] = await (await turn.owner([])).orion.listSessions();
  await rm(session?.session_dir ?? '', { recursive: true });
  await turn.run(await turn.owner(FILE, { death: { at: storing('write_session'), after: true } }));
  const third = await turn.owner([saying(text('never'))]);
  const running = turn.run(third);
  await expect.poll(async () => JSON.stringify(await turn.log())).toContain('never');
  third.kill();
  await running;
  const fourth = await turn.owner([textReply('never mind')]);
  await turn.run(fourth);
  const end = (await expectWhole(turn)).at(-1);
  expect(end).toMatchObject({ status: 'complete', fullContent: 'never mind' });
  expect(contents(fourth.adapter.requests[0]?.messages).at(-1)).toContain('SESSION_NOT_FOUND');
});

it('gives a turn back whose session is lost, and the turn is not', async () => {
  const turn = await openTurn();
  const owner = await turn.owner([callsReply([beginCall()]), saying(text('one\n'))], {
    isSeen: true,
    speed: 100,
  });
  const running = turn.run(owner);
  running.catch(() => undefined);
  await expect.poll(async () => types(await turn.log())).toContain('write_chunk');
  const [session] = await owner.orion.listSessions();
  const lease = join(session?.session_dir ?? '', 'lease.json');
  const { token } = JSON.parse(await readFile(lease, 'utf8')) as { readonly token: string };
  await copyFile(lease, join(session?.session_dir ?? '', `claim-${token}`));
  await expect(running).rejects.toMatchObject({ code: 'SESSION_BUSY' });
  expect(types(await turn.log())).not.toContain('done');
});

it('a session that was paused ends the turn as it would have', async () => {
  const turn = await openTurn();
  await turn.run(
    await turn.owner([callsReply([beginCall()]), textReply('one\n', 'DONE\n')], {
      approve: () => Promise.resolve({ approved: false, reason: 'no' }),
      death: { at: storing('done'), after: false },
    }),
  );
  const second = await turn.owner([]);
  const events = await turn.run(second);
  await expectWhole(turn);
  expect(events?.at(-1)).toMatchObject({ type: 'done', status: 'paused' });
  expect(second.adapter.requests).toEqual([]);
});

/** Of the attempt that has the turn now. */
const idleAttempts = async ({ store }: TakenTurn, attempt: number): Promise<number> =>
  (await store.turnLog.acquire('t', attempt)).idleAttempts;

it('owners that die before the model says anything are counted, and do not end the turn', async () => {
  const turn = await openTurn();
  for (let attempt = 1; attempt <= 6; attempt += 1) {
    expect(await idleAttempts(turn, attempt)).toBe(attempt);
    const death = { at: storing('phase'), after: true };
    expect(await turn.run(await turn.owner([], { death }))).toBeNull();
  }
  await turn.run(await turn.owner([textReply('an answer')]));
  const log = await expectWhole(turn);
  expect(types(log)).toEqual([...Array.from({ length: 7 }, () => 'phase'), 'chunk', 'done']);
});

it('an owner that has more of a file than any before has come further, and no other', async () => {
  const turn = await openTurn();
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, index) => `line ${index}\n`).join('');
  const idle: number[] = [];
  // Whoever goes on repeats what there is.
  const write = async (count: number, ...before: readonly FakeReply[]): Promise<void> => {
    idle.push(await idleAttempts(turn, idle.length + 1));
    const owner = await turn.owner([...before, saying(text(lines(count)))]);
    const running = turn.run(owner);
    await expect.poll(async () => streamedBytes(await turn.log())).toBe(lines(count).length);
    await expect.poll(() => streamed(turn)).toBe(lines(count));
    owner.kill();
    await running;
  };
  await write(40, callsReply([beginCall()]));
  await write(80);
  const [session] = await (await turn.owner([])).orion.listSessions();
  await truncate(join(session?.session_dir ?? '', 'content.txt'), lines(40).length);
  await write(80);
  expect([...idle, await idleAttempts(turn, 4)]).toEqual([1, 1, 1, 2]);
});

it('gives up a message that three more owners did not complete', async () => {
  const turn = await openTurn();
  for (let owner = 0; owner < 4; owner += 1) {
    const one = await turn.owner([saying(text('again'))], {
      death: { at: storing('chunk'), after: true },
    });
    expect(await turn.run(one)).toBeNull();
  }
  const last = await turn.owner([]);
  const events = await turn.run(last);
  expect(types(events)).toEqual(['error', 'done']);
  expect(events?.[0]).toMatchObject({ error: { code: 'TURN_INTERRUPTED' } });
  expect(events?.[1]).toMatchObject({ status: 'error' });
  expect(last.adapter.requests).toEqual([]);
  const log = await expectWhole(turn);
  expect(types(log).filter((type) => type === 'rewind')).toHaveLength(3);
});

it('counts what the owners before have spent', async () => {
  const turn = await openTurn();
  const settings = { maxTokens: 100 };
  await turn.run(
    await turn.owner([saying(text('x'.repeat(404)))], {
      settings,
      death: { at: storing('chunk'), after: true },
    }),
  );
  const second = await turn.owner([], { settings });
  const events = await turn.run(second);
  expect(events?.at(-1)).toMatchObject({ status: 'stopped', stopReason: 'max_tokens' });
  expect(second.adapter.requests).toEqual([]);
});

it('counts the time of the owners before', async () => {
  const turn = await openTurn([tool('Look', 'read')]);
  await turn.run(
    await turn.owner([callsReply([toolCall('1', 'Look')]), saying(text('half'))], {
      death: { at: storing('chunk'), after: true },
    }),
  );
  const { epoch, lastSeq, checkpoint } = await turn.store.turnLog.acquire('t', null);
  const later = { ...(checkpoint as JsonObject), elapsedMs: 61_000 };
  await turn.store.turnLog.appendAll([
    { turnId: 't', epoch, expectSeq: lastSeq + 1, events: [], checkpoint: later },
  ]);
  const second = await turn.owner([], { settings: { maxSeconds: 60 } });
  const events = await turn.run(second);
  expect(events?.at(-1)).toMatchObject({ status: 'stopped', stopReason: 'max_seconds' });
  expect(second.adapter.requests).toEqual([]);
});

it('counts the calls of the owners before', async () => {
  const turn = await openTurn([tool('Look', 'read')]);
  const settings = { maxTurns: 2 };
  await turn.run(
    await turn.owner([callsReply([toolCall('1', 'Look')]), saying(text('half'))], {
      settings,
      death: { at: storing('chunk'), after: true },
    }),
  );
  const events = await turn.run(await turn.owner([], { settings }));
  expect(events?.at(-1)).toMatchObject({ status: 'stopped', stopReason: 'max_turns' });
});

it('knows a call that has run under an owner before as a duplicate', async () => {
  const turn = await openTurn([tool('Note', 'write')]);
  await turn.run(
    await turn.owner([callsReply([toolCall('1', 'Note')]), saying(text('half'))], {
      death: { at: storing('chunk'), after: true },
    }),
  );
  const second = await turn.owner([callsReply([toolCall('2', 'Note')]), textReply('noted')]);
  await turn.run(second);
  const log = await expectWhole(turn);
  expect(turn.ran['Note']).toHaveLength(1);
  expect(ofType(log, 'tool_result')[1]).toMatchObject({ error: { code: 'DUPLICATE_BLOCKED' } });
  expect(contents(second.adapter.requests[1]?.messages).at(-1)).toContain(
    '"earlier_result":{"tool_call_id":"1","result":"ran"}',
  );
});

it('does not continue what another version has begun, nor what has lost its messages', async () => {
  for (const damage of ['version', 'messages'] as const) {
    const turn = await openTurn([tool('Note', 'write')]);
    await turn.run(
      await turn.owner([callsReply([toolCall('1', 'Note')]), saying(text('half'))], {
        death: { at: storing('chunk'), after: true },
      }),
    );
    const { epoch, lastSeq, checkpoint } = await turn.store.turnLog.acquire('t', null);
    const stored = checkpoint as JsonObject & { readonly conversation: JsonObject };
    const changed =
      damage === 'version'
        ? { ...stored, version: 2 }
        : { ...stored, conversation: { ...stored.conversation, messages: 7 } };
    await turn.store.turnLog.appendAll([
      { turnId: 't', epoch, expectSeq: lastSeq + 1, events: [], checkpoint: changed },
    ]);
    const events = await turn.run(await turn.owner([]));
    expect(types(events)).toEqual(['error', 'done']);
    const why = damage === 'version' ? 'another version' : 'are not in the conversation any more';
    const message = expect.stringContaining(why);
    expect(events?.[0]).toMatchObject({ error: { code: 'TURN_INTERRUPTED', message } });
    expect(turn.ran['Note']).toHaveLength(1);
    await expectWhole(turn);
  }
});

it('does not run calls again of a protocol that says nothing of them', async () => {
  const turn = await openTurn([tool('Note', 'write')]);
  const protocol = new OneLookProtocol();
  await turn.run(
    await turn.owner([callsReply([toolCall('1', 'Note')]), saying(text('half'))], {
      protocol,
      death: { at: storing('chunk'), after: true },
    }),
  );
  const events = await turn.run(await turn.owner([], { protocol }));
  expect(events?.[0]).toMatchObject({ error: { code: 'TURN_INTERRUPTED' } });
  expect(turn.ran['Note']).toHaveLength(1);
});

it('leaves what somebody else has said meanwhile where it is', async () => {
  const turn = await openTurn([tool('Note', 'write')]);
  await turn.run(
    await turn.owner([callsReply([toolCall('1', 'Note')]), saying(text('half'))], {
      death: { at: storing('chunk'), after: true },
    }),
  );
  const { conversations } = turn.store;
  const said = await conversations.load('c');
  const rival: Message = { role: 'user', content: 'of a command' };
  expect(said?.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  await conversations.save({
    conversationId: 'c',
    projectId: 'p',
    history: [rival],
    from: 3,
    openSessionId: null,
    revision: said?.revision ?? 0,
  });
  await turn.run(await turn.owner([textReply('noted')]));
  await expectWhole(turn);
  const history = (await conversations.load('c'))?.history ?? [];
  expect(history.map(({ role }) => role)).toEqual([
    'user',
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
  expect(history[0]).toEqual(rival);
});
