import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { OrionOptions } from '@orion/agent';
import type { Approval, RunEvent } from '@orion/contracts';
import { callsReply, createFakeClock, textReply, toolCall } from '@orion/testkit';
import type { FakeReply } from '@orion/testkit';
import { expect, it } from 'vitest';

import { temporaryDirectory } from '../testing/test-server.ts';
import { doneOf, kindsOf, startTurns } from '../testing/test-turns.ts';
import type { TestTurns, TestTurnsOptions } from '../testing/test-turns.ts';

/** Hazard: a turn acts without the yes that it asked for, on something else, or forgets what it asked. R255, R256, B18. */

const begin = (target: string, operation = 'create', id = 'w'): FakeReply =>
  callsReply([
    toolCall(id, 'WritePlanTool_begin', { intent: 'to test', target_file: target, operation }),
  ]);
const writing = (target = 'a.txt', operation?: string): readonly FakeReply[] => [
  begin(target, operation),
  textReply('new\ntext\nDONE\n'),
  textReply('written'),
];
const running = (line: string, id = 'c'): FakeReply =>
  callsReply([toolCall(id, 'run_command', { command: line })]);
const COMMANDS: Pick<OrionOptions, 'commands'> = {
  commands: { environment: { PATH: process.env['PATH'] ?? '' }, home: null },
};

/** As `orion serve --approve ask` has it. */
function asking(options: TestTurnsOptions): Promise<TestTurns> {
  const confirmProtectedPath = () => Promise.resolve(true);
  return startTurns({ approve: 'ask', confirmProtectedPath, ...options });
}

async function pending({ orion }: Pick<TestTurns, 'orion'>): Promise<Approval> {
  const list = () => orion.store.approvals.list({ state: 'pending', limit: 9 });
  await expect.poll(async () => (await list()).length, { timeout: 10_000 }).toBe(1);
  const [found] = await list();
  if (found === undefined) throw new Error('nothing is asked');
  return found;
}

const there = (root: string, name: string): Promise<string> => readFile(join(root, name), 'utf8');

const isThere = (root: string, name: string): Promise<boolean> =>
  there(root, name).then(
    () => true,
    () => false,
  );

const eventsOf = (seen: readonly RunEvent[], ...types: readonly string[]): readonly RunEvent[] =>
  seen.filter(({ type }) => types.includes(type));

it('writes nothing before the yes, which is given to what was shown', async () => {
  const test = await asking({ replies: writing('a.txt', 'overwrite') });
  const { orion, root, seen } = test;
  await writeFile(join(root, 'a.txt'), 'old\n');
  const turnId = await test.submit();
  const asked = await pending(test);
  expect(asked).toMatchObject({
    turnId,
    callId: null,
    action: {
      kind: 'write',
      intent: 'to test',
      changes: [
        {
          target_file: 'a.txt',
          real_path: expect.stringContaining(root),
          operation: 'overwrite',
          before: { bytes: 4 },
          after: { bytes: 9 },
          protected: false,
        },
      ],
    },
  });
  expect(await orion.store.approvals.findDiffs(asked.approvalId)).toEqual([
    { target_file: 'a.txt', diff: expect.stringContaining('-old\n+new\n+text'), cut: false },
  ]);
  expect(await there(root, 'a.txt')).toBe('old\n');
  // Nothing was changed that could be undone.
  expect(await Array.fromAsync(orion.changes())).toEqual([]);
  // Its text is saved meanwhile, and no model is asked.
  const [session] = await orion.listSessions();
  expect(session).toMatchObject({ session_id: asked.sessionId, bytes: 9 });
  expect(test.adapter.requests).toHaveLength(2);
  // Whoever looks while it waits sees that nothing can be lost.
  const marks = { receivedBytes: 9, savedBytes: 9, durableBytes: 9 };
  await expect
    .poll(() => eventsOf(seen, 'write_progress').at(-1), { timeout: 10_000 })
    .toMatchObject(marks);
  const { approvalId, hash } = asked;
  await orion.approvals.decide(approvalId, { decision: 'yes', hash });
  expect(doneOf(await test.ended(turnId))).toMatchObject({ status: 'complete' });
  expect(await there(root, 'a.txt')).toBe('new\ntext\n');
  expect(eventsOf(seen, 'approval_requested', 'approval_decided')).toMatchObject([
    { approvalId, hash, sessionId: asked.sessionId, action: asked.action },
    { approvalId, decision: 'yes' },
  ]);
  expect(await orion.store.approvals.find(approvalId)).toMatchObject({ state: 'yes' });
  expect(await orion.store.approvals.findDiffs(approvalId)).toEqual([]);
});

it('stores no key in use of what it shows, and only the beginning of what nobody reads', async () => {
  const key = 'sk-0123456789abcdef';
  const lines = Array.from({ length: 20_000 }, (_, line) => `${line} `.padEnd(60, 'x')).join('\n');
  const test = await asking({
    replies: [begin('a.txt'), textReply(`key: ${key}\n${lines}\nDONE\n`)],
    mcp: { servers: [], environment: {}, secrets: [key] },
  });
  await test.submit();
  const { approvalId } = await pending(test);
  const [shown] = await test.orion.store.approvals.findDiffs(approvalId);
  expect(shown).toMatchObject({ cut: true, diff: expect.stringContaining('+key: [REDACTED]\n') });
  expect(shown?.diff?.length).toBeLessThanOrEqual(1024 * 1024);
  expect(shown?.diff).toMatch(/^\+16000 x+\n/mu);
});

it('saves the text of a write that is refused, and the model reads why', async () => {
  const test = await asking({ replies: [...writing().slice(0, 2), textReply('I see')] });
  const turnId = await test.submit();
  const { approvalId, hash } = await pending(test);
  // Somebody else's file is a reason for a no, and none against it.
  await writeFile(join(test.root, 'a.txt'), 'of somebody else\n');
  const reason = 'Keep the old heading.';
  await test.orion.approvals.decide(approvalId, { decision: 'no', hash, reason });
  expect(doneOf(await test.ended(turnId))).toMatchObject({ status: 'paused' });
  expect(await there(test.root, 'a.txt')).toBe('of somebody else\n');
  expect(await test.orion.listSessions()).toMatchObject([{ bytes: 9 }]);
  await test.ended(await test.submit());
  const answers = test.adapter.requests.at(-1)?.messages.map(({ content }) => content);
  expect(answers?.join('\n')).toContain(reason);
});

it('is decided by one of two at once, and only with the hash', async () => {
  const test = await asking({ replies: writing() });
  const turnId = await test.submit();
  const { approvalId, hash } = await pending(test);
  const { approvals } = test.orion;
  const wrong = approvals.decide(approvalId, { decision: 'yes', hash: '0'.repeat(64) });
  await expect(wrong).rejects.toMatchObject({ code: 'APPROVAL_STALE' });
  const both = await Promise.allSettled([
    approvals.decide(approvalId, { decision: 'yes', hash }),
    approvals.decide(approvalId, { decision: 'no', hash, reason: 'late' }),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const lost = both.find((one) => one.status === 'rejected');
  expect(lost?.reason).toMatchObject({ code: 'APPROVAL_DECIDED' });
  await test.ended(turnId);
  const { state } = (await test.orion.store.approvals.find(approvalId)) ?? {};
  expect(await isThere(test.root, 'a.txt')).toBe(state === 'yes');
});

it('asks anew when the file was changed after it was shown', async () => {
  const test = await asking({ replies: writing() });
  const { orion, root, seen } = test;
  const turnId = await test.submit();
  const first = await pending(test);
  await writeFile(join(root, 'a.txt'), 'of somebody else\n');
  const late = orion.approvals.decide(first.approvalId, { decision: 'yes', hash: first.hash });
  await expect(late).rejects.toMatchObject({ code: 'APPROVAL_STALE' });
  const second = await pending(test);
  expect(second).toMatchObject({
    sessionId: first.sessionId,
    action: { changes: [{ operation: 'overwrite', before: { bytes: 17 } }] },
  });
  const [shown] = await orion.store.approvals.findDiffs(second.approvalId);
  expect(shown?.diff).toContain('-of somebody else');
  await writeFile(join(root, 'a.txt'), 'and of another one\n');
  const again = orion.approvals.decide(second.approvalId, { decision: 'yes', hash: second.hash });
  await expect(again).rejects.toMatchObject({ code: 'APPROVAL_STALE' });
  const third = await pending(test);
  await orion.approvals.decide(third.approvalId, { decision: 'yes', hash: third.hash });
  expect(doneOf(await test.ended(turnId))).toMatchObject({ status: 'complete' });
  expect(await there(root, 'a.txt')).toBe('new\ntext\n');
  expect(
    eventsOf(seen, 'approval_requested', 'approval_decided').map((event) =>
      event.type === 'approval_decided' ? event.decision : event.type,
    ),
  ).toEqual([
    'approval_requested',
    'withdrawn',
    'approval_requested',
    'withdrawn',
    'approval_requested',
    'yes',
  ]);
});

it('covers what else the turn writes with "turn", but no protected path', async () => {
  const test = await asking({
    replies: [
      ...writing('a.txt').slice(0, 2),
      begin('b.txt', 'create', 'x'),
      textReply('b\nDONE\n'),
      begin('.env', 'create', 'y'),
      textReply('KEY=1\nDONE\n'),
      textReply('written'),
    ],
  });
  const turnId = await test.submit();
  const first = await pending(test);
  const { approvals } = test.orion;
  await approvals.decide(first.approvalId, { decision: 'turn', hash: first.hash });
  await expect.poll(() => isThere(test.root, 'b.txt')).toBe(true);
  const last = await pending(test);
  expect(last.action).toMatchObject({ changes: [{ target_file: '.env', protected: true }] });
  expect(await isThere(test.root, '.env')).toBe(false);
  await approvals.decide(last.approvalId, { decision: 'yes', hash: last.hash });
  await test.ended(turnId);
  expect(await there(test.root, '.env')).toBe('KEY=1\n');
});

it('asks about a command, each time, and tells the model of a no', async () => {
  const test = await asking({
    replies: [
      running('echo x >> f', '1'),
      running('echo y >> f', '2'),
      running('echo x >> f', '1'),
      running('rm f', '2'),
      textReply('ok'),
    ],
    ...COMMANDS,
    settings: { sandbox: 'off' },
  });
  const { orion, root } = test;
  const turnId = await test.submit();
  for (const [callId, letter, so] of [
    ['1', 'x', 'x\n'],
    ['2', 'y', 'x\ny\n'],
    // Some providers number the calls of each message anew.
    ['1_2', 'x', 'x\ny\nx\n'],
  ] as const) {
    const asked = await pending(test);
    const command = `echo ${letter} >> f`;
    expect(asked).toMatchObject({
      callId,
      sessionId: null,
      action: { kind: 'command', command, sandbox: 'off', network: false },
    });
    await orion.approvals.decide(asked.approvalId, { decision: 'yes', hash: asked.hash });
    await expect.poll(() => there(root, 'f').catch(() => '')).toBe(so);
  }
  const last = await pending(test);
  const reason = 'never';
  await orion.approvals.decide(last.approvalId, { decision: 'no', hash: last.hash, reason });
  await test.ended(turnId);
  expect(await isThere(root, 'f')).toBe(true);
  const answer = test.adapter.requests.at(-1)?.messages.at(-1)?.content;
  expect(answer).toContain('run_command was not approved: never');
});

it('asks nobody about a line that nobody would read to its end', async () => {
  const line = `echo ${'x'.repeat(64 * 1024)}`;
  const test = await asking({ replies: [running(line), textReply('ok')], ...COMMANDS });
  expect(kindsOf(await test.ended(await test.submit()))).not.toContain('approval_requested');
  const answer = test.adapter.requests.at(-1)?.messages.at(-1)?.content;
  expect(answer).toContain('it is too long to review');
});

it('ends at once when it is cancelled while it waits, and nothing is asked any more', async () => {
  const test = await asking({ replies: writing() });
  const turnId = await test.submit();
  const { approvalId, hash } = await pending(test);
  await test.turns.service.cancel(turnId);
  const entries = await test.ended(turnId);
  expect(doneOf(entries)).toMatchObject({ status: 'paused', stopReason: 'cancelled' });
  expect(entries.find(({ kind }) => kind === 'approval_decided')?.data).toMatchObject({
    decision: 'withdrawn',
    reason: 'The turn was cancelled.',
  });
  const late = test.orion.approvals.decide(approvalId, { decision: 'yes', hash });
  await expect(late).rejects.toMatchObject({ code: 'APPROVAL_DECIDED' });
  expect(await test.orion.store.approvals.countPending()).toBe(0);
  expect(await test.orion.listSessions()).toMatchObject([{ bytes: 9 }]);
});

it('takes no slot while it waits', async () => {
  const test = await asking({ replies: [...writing(), textReply('hello')], slots: 1 });
  const waiting = await test.submit({ conversationId: 'one' });
  const { approvalId, hash } = await pending(test);
  // The model of the test answers in order.
  const other = await test.submit({ conversationId: 'two' });
  expect(doneOf(await test.ended(other))).toMatchObject({ status: 'complete' });
  await test.orion.approvals.decide(approvalId, { decision: 'yes', hash });
  await test.ended(waiting);
});

it('is handed off at once by a stop, and the next process has the same question', async () => {
  const root = await temporaryDirectory();
  const state = await temporaryDirectory();
  await mkdir(join(root, 'sub'));
  const store = { settings: { stateDirectory: state }, store: undefined as never };
  // It stands still: of the 30 s nothing is waited for.
  const serverClock = createFakeClock();
  const first = await asking({ root, ...store, replies: writing(), serverClock });
  const turnId = await first.submit();
  const asked = await pending(first);
  await first.turns.stop(30_000);
  await first.turns.hold.release();
  await first.orion.close();
  // Decided while nobody ran the turn.
  const { orion, ...second } = await asking({ root, ...store, replies: [textReply('written')] });
  const again = await pending({ orion });
  expect(again).toEqual(asked);
  await orion.approvals.decide(asked.approvalId, { decision: 'yes', hash: asked.hash });
  const entries = await second.ended(turnId);
  expect(doneOf(entries)).toMatchObject({ status: 'complete' });
  expect(kindsOf(entries).filter((kind) => kind === 'approval_requested')).toHaveLength(1);
  expect(await there(root, 'a.txt')).toBe('new\ntext\n');
  // What was shown needed no model.
  expect(second.adapter.requests).toHaveLength(1);
});

it('takes no slot either in the process that took it over, and is left at once by the next stop', async () => {
  const [root, state] = [await temporaryDirectory(), await temporaryDirectory()];
  const store = { settings: { stateDirectory: state }, store: undefined as never };
  const clocks = [createFakeClock(), createFakeClock()] as const;
  const first = await asking({ root, ...store, replies: writing(), serverClock: clocks[0] });
  const turnId = await first.submit({ conversationId: 'one' });
  const asked = await pending(first);
  await first.turns.stop(30_000);
  await first.turns.hold.release();
  await first.orion.close();

  const replies = [textReply('hello')];
  const more = { replies, slots: 1, serverClock: clocks[1] };
  const second = await asking({ root, ...store, ...more });
  await expect.poll(() => second.turns.resting()).toBe(1);
  const other = await second.submit({ conversationId: 'two' });
  const isOver = async (): Promise<unknown> => {
    await clocks[1].advance(250);
    return (await second.turns.service.find(other))?.state;
  };
  await expect.poll(isOver).toBe('done');
  await second.turns.stop(30_000);
  expect(await second.turns.service.find(turnId)).toMatchObject({ state: 'queued' });
  expect(await pending(second)).toEqual(asked);
});
