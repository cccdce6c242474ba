import { expect, test } from 'vitest';

import { notStoredLine } from './not-stored-line.ts';

test('names what the store lacks, and nothing else', () => {
  const none = { turnEvents: 0, conversations: 0, traceEvents: 0 };
  expect(notStoredLine(none)).toBeNull();
  expect(notStoredLine({ ...none, traceEvents: 1 })).toMatch(/: 1 trace event\. /u);
  expect(notStoredLine({ ...none, conversations: 1, turnEvents: 12 })).toMatch(
    /: 1 conversation and 12 events of the turn log\. /u,
  );
  expect(notStoredLine({ turnEvents: 2_000, conversations: 1, traceEvents: 3 })).toMatch(
    /: 1 conversation, 2,000 events of the turn log and 3 trace events\. /u,
  );
});
