import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { RunEvent, RunEventBody } from '@orion/contracts';
import type { ChangeProposal, ChangeReviewer, ReviewAnswer } from '@orion/core';
import { callsReply, createFakeAdapter, textReply, toolCall } from '@orion/testkit';
import { formatTimeline } from '@orion/trace-store';
import { expect, it, onTestFinished } from 'vitest';

import { createOrion } from '../create-orion.ts';
import { AskedHere } from './asked-here.ts';

/** Hazard: whoever reads the events or the trace does not learn that the turn waits for a person, or what was decided. */

const signal = new AbortController().signal;

function change(name: string, isProtected = false): ChangeProposal {
  return {
    target_file: name,
    real_path: `/ws/${name}`,
    operation: 'create',
    before: null,
    after: { bytes: 1, sha256: 'a'.repeat(64) },
    crlf: false,
    protected: isProtected,
    hard_link: false,
    // oxlint-disable-next-line require-yield -- nothing reads it
    async *diff() {
      throw new Error('read');
    },
  };
}

function asking(answer: () => Promise<ReviewAnswer>) {
  const said: RunEventBody[] = [];
  const here = new AskedHere(
    (event) => said.push(event),
    (text) => text.replaceAll('secret', '***'),
  );
  const review: ChangeReviewer = here.reviewer(answer);
  const ask = (id: string, ...changes: readonly ChangeProposal[]): Promise<ReviewAnswer> =>
    review({ id, intent: 'a secret', changes }, signal);
  const words = (): readonly unknown[] =>
    said.splice(0).map((event) => {
      if (event.type === 'approval_requested') return [event.sessionId ?? event.callId];
      return event.type === 'approval_decided' ? [event.decision, event.reason] : event.type;
    });
  return { here, said, ask, words };
}

it('reports a question and its answer, without secrets and without a time at which it expires', async () => {
  const { said, ask } = asking(() => Promise.resolve({ approved: false, reason: 'no secret' }));
  await ask('s', change('a.txt'));
  const [asked, decided] = said;
  expect(asked).toEqual({
    type: 'approval_requested',
    approvalId: expect.any(String),
    sessionId: 's',
    hash: expect.stringMatching(/^[0-9a-f]{64}$/u),
    action: { kind: 'write', intent: 'a ***', changes: [expect.not.objectContaining({ diff: 1 })] },
  });
  expect(decided).toEqual({
    type: 'approval_decided',
    approvalId: (asked as { approvalId: string }).approvalId,
    decision: 'no',
    reason: 'no ***',
  });
});

it('a yes to the turn covers other writes, which are not asked about, but no protected path', async () => {
  const { ask, words } = asking(() => Promise.resolve({ approved: true, forTurn: true }));
  await ask('first', change('a.txt'));
  await ask('second', change('b.txt'));
  await ask('first', change('a.txt'));
  await ask('third', change('.env', true));
  const yes = ['turn', undefined];
  expect(words()).toEqual([['first'], yes, ['first'], yes, ['third'], yes]);
});

it('a question without an answer is withdrawn', async () => {
  const { here, ask, words } = asking(() => Promise.reject(new Error('stopped')));
  await expect(ask('s', change('a.txt'))).rejects.toThrow('stopped');
  expect(words()).toEqual([['s'], ['withdrawn', undefined]]);
  const action = { kind: 'command', command: 'ls', folder: '/ws' } as const;
  await here.reviewCall(() => Promise.resolve({ approved: true }), action, 'c', signal);
  expect(words()).toEqual([['c'], ['yes', undefined]]);
});

it('a turn passes them on while it waits, and its trace shows them', async () => {
  const root = await mkdtemp(join(tmpdir(), 'orion-asked-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const begin = { intent: 'test', target_file: 'a.txt', operation: 'create' };
  const adapter = createFakeAdapter([
    callsReply([toolCall('b', 'WritePlanTool_begin', begin)]),
    textReply('one\nDONE\n'),
    textReply('Written.'),
  ]);
  const events: RunEvent[] = [];
  const isAsked = Promise.withResolvers<void>();
  const orion = await createOrion({
    workspace: root,
    store: 'memory',
    adapter,
    // Answered only when the reader of the events has the question.
    approve: () => isAsked.promise.then(() => ({ approved: true })),
  });
  onTestFinished(() => orion.close());
  for await (const event of orion.runTurn({ content: 'Write it.' })) {
    events.push(event);
    if (event.type === 'approval_requested') isAsked.resolve();
  }
  const types = events.map(({ type }) => type);
  expect(types.filter((type) => type.startsWith('approval'))).toEqual([
    'approval_requested',
    'approval_decided',
  ]);
  expect(types.indexOf('approval_decided')).toBeLessThan(types.lastIndexOf('write_session'));
  const trace = await orion.traces.getTrace(events[0]?.requestId ?? '');
  expect(formatTimeline(trace, { columns: 100 })).toMatch(
    / {4}asked {2}create a\.txt, yes +\d+ ms$/mu,
  );
});
