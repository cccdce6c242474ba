import { randomUUID } from 'node:crypto';
import { systemClock } from '@orion/contracts';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../open-store.ts';
import { useTestDatabase } from '../testing/test-database.ts';

/** Hazard: two projects begin a conversation of one name at once, and one of them is answered with a defect. */

const own = useTestDatabase();
const ROUNDS = 30;

test('a conversation that two projects begin at once belongs to one of them', async () => {
  const stores = [1, 2].map(() => {
    const store = openStore({ kind: 'postgres', url: own.url() }, { clock: systemClock });
    onTestFinished(() => store.close());
    return store;
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    const conversationId = randomUUID();
    const outcomes = await Promise.all(
      stores.map(({ servedTurns }, index) =>
        servedTurns.submit(
          {
            turnId: randomUUID(),
            newConversationId: randomUUID(),
            projectId: `project ${index}`,
            content: 'text',
            mode: 'act',
            conversationId,
            protocol: null,
            metadata: {},
          },
          null,
          async () => undefined,
        ),
      ),
    );
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['foreign', 'stored']);
  }
});
