import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { systemClock } from '@orion/contracts';
import { openStore } from '../open-store.ts';

// Run by serving-hold.test.ts: <database file or URL>. Holds the store until it is killed.
const [at = ''] = process.argv.slice(2);

const location = at.startsWith('postgres')
  ? ({ kind: 'postgres', url: at } as const)
  : ({ kind: 'sqlite', path: at } as const);
const store = openStore(location, { clock: systemClock });
await (await store.holdServing()).announce('http://127.0.0.1:1');
// Whoever serves a store may have forgotten by what: the hold does not end with the object.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
for (let round = 0; round < 3; round += 1) {
  collectGarbage();
  await new Promise((resolve) => {
    setTimeout(resolve, 10);
  });
}
process.stdout.write('held\n');
setInterval(() => undefined, 1_000_000);
