// Run by several-processes.test.ts: <store as JSON> <turn> <how many events>. Owns the turn and writes it.
import { openStore } from '@orion/agent';
import { systemClock } from '@orion/contracts';

const [location = '', turnId = '', count = ''] = process.argv.slice(2);

const store = openStore(JSON.parse(location) as Parameters<typeof openStore>[0], {
  clock: systemClock,
});
const { epoch } = await store.turnLog.acquire(turnId, null);
for (let seq = 1; seq <= Number(count); seq += 1) {
  const kind = seq === Number(count) ? 'done' : 'chunk';
  await store.turnLog.append(turnId, epoch, seq, [{ seq, kind, data: { content: `${seq}` } }]);
}
await store.close();
