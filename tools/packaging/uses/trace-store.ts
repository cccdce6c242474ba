// prints: 1 hello
import { openStore } from '@orion/trace-store';

const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(milliseconds: number, callback: () => void) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
const store = openStore({ kind: 'memory' }, { clock });
store.traces.record({ type: 'hello', requestId: 'r' });
await store.traces.flush();
const events = await store.traces.getTrace('r');
console.log(events.length, events[0]?.type);
await store.close();
