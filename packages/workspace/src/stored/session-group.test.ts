import type { SessionAppend, SessionAppended } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';

import { SessionGroup } from './session-group.ts';
import type { GroupMember } from './session-group.ts';

/** Hazard: a session that stops waits for the statements of all others, one after the other, or not for its own. */

const STORED: SessionAppended = {
  kind: 'stored',
  places: {
    content: { generation: 0, bytes: 0 },
    pending: { generation: 0, bytes: 0 },
    trailing: { generation: 0, bytes: 0 },
  },
};

/** A store that answers when it is told to. */
function slowStore() {
  const statements: { readonly appends: readonly SessionAppend[]; readonly answer: () => void }[] =
    [];
  return {
    statements,
    append(appends: readonly SessionAppend[]): Promise<readonly SessionAppended[]> {
      const { promise, resolve } = Promise.withResolvers<readonly SessionAppended[]>();
      statements.push({ appends, answer: () => resolve(appends.map(() => STORED)) });
      return promise;
    },
  };
}

test('whoever waits for the statement under way does not wait for the next one', async () => {
  const store = slowStore();
  const group = new SessionGroup(store, createFakeClock());
  const busy = Array.from({ length: 50 }, (_, index): GroupMember => {
    const owner = { sessionId: `busy ${index}`, epoch: 1 };
    const member: GroupMember = {
      take: () => ({ owner, pieces: {} }),
      answered: () => group.add(member, { urgent: true }),
      failed: () => undefined,
    };
    return member;
  });
  for (const member of busy) group.add(member, { urgent: true });
  await expect.poll(() => store.statements.length).toBe(1);
  let isSettled = false;
  void group.settled().then(() => {
    isSettled = true;
  });
  const macrotask = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  await macrotask();
  expect(isSettled).toBe(false);

  store.statements[0]?.answer();

  await expect.poll(() => store.statements.length).toBe(2);
  await macrotask();
  expect(isSettled).toBe(true);
});
