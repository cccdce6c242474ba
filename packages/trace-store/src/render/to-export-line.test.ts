import fastCheck from 'fast-check';
import { expect, test } from 'vitest';
import { prepareTrace } from '../safety/trace-event.ts';
import { toExportLine } from './to-export-line.ts';

test('one event is one line of JSON with our own keys at its top (B20)', () => {
  fastCheck.assert(
    fastCheck.property(
      fastCheck.string({ unit: 'binary' }),
      fastCheck.anything(),
      (text, details) => {
        const event = { id: 1, ...prepareTrace({ type: text, summary: text, details }, 0).event };
        const line = toExportLine(event);
        // oxlint-disable-next-line no-control-regex -- the line feed at the end is the only one
        expect(line).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*\n$/);
        const parsed = JSON.parse(line) as Record<string, unknown>;
        expect(Object.keys(parsed)).toHaveLength(16);
        expect(parsed).toMatchObject({ id: 1, timestamp: '1970-01-01T00:00:00.000Z' });
        expect(parsed['details']).toEqual(event.details);
      },
    ),
  );
});

test('a fake record stays inside its field', () => {
  const summary = 'a\r\n{"type":"fake"}\u2028\u0085';
  const line = toExportLine({ id: 1, ...prepareTrace({ type: 'x', summary }, 0).event });
  expect(line.split(/\r|\n|\u2028|\u0085/)).toHaveLength(2);
  expect(JSON.parse(line)).toMatchObject({ type: 'x', summary });
});
