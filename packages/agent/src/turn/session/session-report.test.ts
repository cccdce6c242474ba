import { createFakeClock } from '@orion/testkit';
import { expect, it } from 'vitest';

import type { WriteSession } from '@orion/core';

import { SessionReport } from './session-report.ts';
import type { SessionReportOptions } from './session-report.ts';

/** Hazard: a disk that takes nothing is not reported while text goes on coming, or after it was well before. */

function reportOf() {
  const disk = { saved: 0, durable: 0 };
  const report = new SessionReport(
    {
      handle: { id: 's', savedBytes: () => disk.saved } as SessionReportOptions['handle'],
      clock: createFakeClock(),
      trace: { record: () => undefined },
      projectId: 'p',
      requestId: 'r',
    },
    () => disk.durable,
  );
  /** What the look found, and the watermarks that it reported. */
  const look = (bytes: number): readonly unknown[] => {
    const summary = { bytes, lineFeeds: 0, openLineLength: bytes };
    const found = report.progress({ summary } as WriteSession);
    return [
      found,
      ...Array.from(report.drain(), (event) =>
        event.type === 'write_progress'
          ? [event.receivedBytes, event.savedBytes, event.durableBytes]
          : event.type,
      ),
    ];
  };
  return { disk, look };
}

it('says after four looks that nothing is saved although text arrives, once', () => {
  const { disk, look } = reportOf();
  const looks = (from: number): readonly unknown[] =>
    Array.from({ length: 8 }, (_, at) => look(from + at * 10));
  const reported = ['reported', [40, 0, 0]];
  const known = ['known'];
  expect(looks(10)).toEqual([known, known, known, reported, known, known, known, known]);
  disk.saved = 100;
  expect(look(100)).toEqual(known);
  expect(look(100)).toEqual(['reported', [100, 100, 0]]);
  disk.durable = 100;
  expect(look(100)).toEqual(['reported', [100, 100, 100]]);
  expect(look(100)).toEqual(['all safe']);
});

it('reports text that stays in memory behind text that was all safe', () => {
  const { disk, look } = reportOf();
  disk.saved = disk.durable = 10;
  look(10);
  expect(look(10)).toEqual(['reported', [10, 10, 10]]);
  look(20);
  expect(look(20)).toEqual(['reported', [20, 10, 10]]);
  expect(look(20)).toEqual(['known']);
});

it('a disk that follows is no news while text arrives', () => {
  const { disk, look } = reportOf();
  for (let bytes = 10; bytes < 200; bytes += 10) {
    expect(look(bytes)).toEqual(['known']);
    disk.saved = bytes;
  }
});
