import { describeTraceStoreContract } from '@orion/testkit';
import { createMemoryTraceStore } from './memory-trace-store.ts';

describeTraceStoreContract('memory', ({ clock }) =>
  createMemoryTraceStore({ clock, strict: true }),
);
