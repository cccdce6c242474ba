import { OrionError } from '@orion/contracts';
import type { Approval, Approvals, NewApproval, RunEventBody } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import { ApprovalDesk } from './approval-desk.ts';
import { TurnApprovals } from './turn-approvals.ts';

/** Hazard: a store goes back to what it was before a question, and the turn waits for an answer that nobody can give. */

const ACTION = { kind: 'command', command: 'ls', folder: '/w' } as const;

function asking(confirm: () => Promise<void>, cancelled = new AbortController().signal) {
  const clock = createFakeClock();
  const asked: Approval[] = [];
  let isKept = true;
  const pending = (request: NewApproval): Approval => ({
    ...request,
    state: 'pending',
    reason: null,
    createdAt: 0,
    expiresAt: 1,
    decidedAt: null,
  });
  const approvals: Pick<Approvals, 'request' | 'news'> = {
    request: async (_, request) => {
      asked.push(pending(request));
      isKept = true;
      return pending(request);
    },
    news: async (ids) => {
      const unknown = isKept ? [] : ids;
      const closed = asked.slice(1).map((approval) => ({ ...approval, state: 'yes' as const }));
      return { closed, unknown };
    },
  };
  const said: RunEventBody[] = [];
  const rests: boolean[] = [];
  const signal = new AbortController().signal;
  const turn = new TurnApprovals({
    turn: {
      fence: { turnId: 't', epoch: 1 },
      confirm,
      untilStored: (attempt) => attempt(),
      lost: signal,
    },
    ids: { projectId: 'p', conversationId: 'c' },
    approvals: approvals as Approvals,
    desk: new ApprovalDesk(approvals as Approvals, { checkTarget: () => Promise.reject() }, clock),
    redact: (text) => text,
    logged: { requested: new Set(), decided: new Set() },
    handOff: signal,
    say: (event) => said.push(event),
    onRest: (isResting) => rests.push(isResting),
  });
  const answer = turn.reviewCall(ACTION, 'call', cancelled);
  answer.catch(() => undefined);
  return {
    answer,
    asked,
    said,
    rests,
    loses: async () => {
      await clock.advance(5_000);
      expect(asked).toHaveLength(1);
      isKept = false;
      await clock.advance(1_000);
    },
  };
}

it('asks anew if the turn goes on', async () => {
  const { answer, asked, said, rests, loses } = asking(() => Promise.resolve());
  await loses();
  await expect(answer).resolves.toEqual({ approved: true });
  const ids = asked.map(({ approvalId }) => approvalId);
  expect(new Set(ids).size).toBe(2);
  expect(said.map((event) => [event.type, 'approvalId' in event && event.approvalId])).toEqual([
    ['approval_requested', ids[0]],
    ['approval_requested', ids[1]],
    ['approval_decided', ids[1]],
  ]);
  expect(rests).toEqual([true, false, true, false]);
});

it('leaves the turn to its next attempt if the store has lost events of it, too', async () => {
  const gap = new OrionError({ code: 'TURN_LOG_GAP', message: 'it went back' });
  let confirmed = 0;
  const { answer, asked, loses } = asking(() => {
    confirmed += 1;
    return confirmed === 1 ? Promise.resolve() : Promise.reject(gap);
  });
  await loses();
  await expect(answer).rejects.toBe(gap);
  expect(asked).toHaveLength(1);
});

it('asks nobody in a turn that was cancelled, which only the store can say after a takeover', async () => {
  const cancel = new AbortController();
  const { answer, asked } = asking(() => {
    cancel.abort();
    return Promise.resolve();
  }, cancel.signal);
  await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
  expect(asked).toEqual([]);
});
