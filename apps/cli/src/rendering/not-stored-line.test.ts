import { expect, test } from 'vitest';

import { notStoredLines } from './not-stored-line.ts';

test('names what the store lacks, and nothing else', () => {
  const none = { turnEvents: 0, conversations: 0, traceEvents: 0, spans: 0 };
  expect(notStoredLines(none)).toEqual([]);
  const line = (some: Partial<typeof none>): string =>
    notStoredLines({ ...none, ...some }).join('\n');
  expect(line({ traceEvents: 1 })).toMatch(/: 1 trace event\. [^\n]*$/u);
  expect(line({ conversations: 1, turnEvents: 12 })).toMatch(
    /: 1 conversation and 12 events of the turn log\. /u,
  );
  expect(line({ turnEvents: 2_000, conversations: 1, traceEvents: 3 })).toMatch(
    /: 1 conversation, 2,000 events of the turn log and 3 trace events\. /u,
  );
  expect(line({ spans: 2 })).toBe('The collector of telemetry did not take 2 spans.');
});
