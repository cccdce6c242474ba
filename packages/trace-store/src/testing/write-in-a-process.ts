import { systemClock } from '@orion/contracts';
import { openStore } from '../open-store.ts';

// Run by several-processes.test.ts: <database file> <number of this process> <how many batches>.
const [path = '', worker = '', batches = ''] = process.argv.slice(2);

const store = openStore({ kind: 'sqlite', path }, { clock: systemClock });
const turnId = `turn-${worker}`;
const { epoch } = await store.turnLog.acquire(turnId, 1);
for (let batch = 0; batch < Number(batches); batch++) {
  const first = batch * 10 + 1;
  const events = Array.from({ length: 10 }, (_, index) => ({
    seq: first + index,
    kind: 'chunk',
    data: { worker, text: 'text' },
  }));
  const last = await store.turnLog.append(turnId, epoch, first, events);
  // What has been said cannot be lost any more.
  process.stdout.write(`${last}\n`);
  if (batch % 20 === 0) {
    await store.conversations.save({
      conversationId: `conversation-${worker}`,
      projectId: 'project',
      history: [{ role: 'user', content: `batch ${batch}` }],
      from: 0,
      openSessionId: null,
      revision: batch / 20,
    });
  }
}
await store.close();
