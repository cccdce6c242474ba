/**
 * Another process that reads a turn from the store while servers come and go. Prints a line an event and at its end all
 * ids. Arguments: the database file or a URL of Postgres, the turn.
 */
import { formatEventId, systemClock } from '@orion/contracts';
import { openStore } from '@orion/trace-store';

const [place = '', turnId = ''] = process.argv.slice(2);
const location = place.startsWith('postgres:')
  ? ({ kind: 'postgres', url: place } as const)
  : ({ kind: 'sqlite', path: place } as const);
const store = openStore(location, { clock: systemClock, create: false });
let ids: string[] = [];
const after = { seq: 0, epoch: null };
for await (const news of store.turnLog.follow([{ turnId, after }], new AbortController().signal)) {
  if (news.kind === 'reset') ids = [];
  else ids.push(formatEventId(news.entry));
}
process.stdout.write(ids.join(' '));
await store.close();
