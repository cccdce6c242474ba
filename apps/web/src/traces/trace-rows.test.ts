import type { TracedEvent } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { overviewOf, rowAtColumn } from './overview-lanes.ts';
import { findRow, rowsOf, withoutPhases } from './trace-rows.ts';

/** Hazard: a row whose duration is that of another call, or an overview that hides what happened. */

type Given = readonly [type: string, timestamp: number, phaseIndex?: number, toolName?: string];

function eventsOf(given: readonly Given[]): readonly TracedEvent[] {
  return given.map(([type, timestamp, phaseIndex = null, toolName = null], index) => ({
    id: index + 1,
    type,
    timestamp: 5000 + timestamp,
    phaseIndex,
    toolName,
    hasError: type.endsWith('failed'),
    truncated: false,
    projectId: null,
    requestId: 'r',
    sessionId: null,
    source: null,
    summary: null,
    direction: null,
    cycleIndex: null,
  }));
}

const TURN: readonly Given[] = [
  ['turn_started', 0],
  ['phase_start', 10, 0],
  ['llm_call', 11, 0],
  ['llm_result', 60, 0],
  ['phase_end', 61, 0],
  ['phase_start', 70, 1],
  ['tool_call', 71, 1, 'read_file'],
  ['tool_call', 72, 1, 'read_file'],
  ['tool_call', 73, 1, 'list_files'],
  ['tool_result', 80, 1, 'read_file'],
  ['tool_result', 90, 1, 'list_files'],
  ['seam_verified', 95, 1],
  ['turn_ended', 100],
];

describe('the rows of a trace', () => {
  const rows = rowsOf(eventsOf(TURN));

  it('have an event each, with the time since the first one', () => {
    expect(rows.map(({ event, offsetMs }) => [event.type, offsetMs])).toEqual(
      TURN.map(([type, timestamp]) => [type, timestamp]),
    );
  });

  it('say how long a phase and a call took, where their end was recorded', () => {
    const took = rows.map(({ durationMs }) => durationMs);
    expect(took).toEqual([null, 51, 49, null, null, null, 9, null, 17, null, null, null, null]);
  });

  it('say how long a person was waited for, and are in a lane of their own', () => {
    const asked = rowsOf(
      eventsOf([
        ['turn_started', 0],
        ['approval_requested', 10],
        ['approval_decided', 4010],
        ['approval_requested', 5000],
      ]),
    );
    expect(asked.map(({ durationMs }) => durationMs)).toEqual([null, 4000, null, null]);
    expect(asked.map(({ kind }) => kind)).toEqual(['phase', 'approval', 'approval', 'approval']);
    const lane = overviewOf(asked, 100).lanes.find(({ kind }) => kind === 'approval');
    expect(lane?.runs).toEqual([
      { from: 0, columns: 81 },
      { from: 99, columns: 1 },
    ]);
  });

  it('are within the phase that is open, and outside again behind its end', () => {
    expect(rows.map(({ level, phase }) => `${level} ${phase}`)).toEqual([
      '1 null',
      '1 0',
      '2 0',
      '2 0',
      '2 0',
      '1 1',
      '2 1',
      '2 1',
      '2 1',
      '2 1',
      '2 1',
      '2 1',
      '1 null',
    ]);
  });

  it('lead from one that is found to the next, around the end, and to a number', () => {
    expect(findRow(rows, 'READ_FILE', 0, 1)).toBe(6);
    expect(findRow(rows, 'read_file', 6, 1)).toBe(7);
    expect(findRow(rows, 'read_file', 9, 1)).toBe(6);
    expect(findRow(rows, 'read_file', 6, -1)).toBe(9);
    expect([
      findRow(rows, ':13', 0, 1),
      findRow(rows, ':14', 0, 1),
      findRow(rows, ':0', 0, 1),
    ]).toEqual([12, -1, -1]);
    expect(findRow(rows, 'nothing', 0, 1)).toBe(-1);
    expect(findRow([], 'x', -1, 1)).toBe(-1);
  });

  it('leave out the inside of phases that are closed, and nothing else', () => {
    const types = withoutPhases(rows, new Set([0])).map(({ event }) => event.id);
    expect(types).toEqual([1, 2, 6, 7, 8, 9, 10, 11, 12, 13]);
    expect(withoutPhases(rows, new Set())).toBe(rows);
  });

  it('cost in proportion to the events', () => {
    const many = (count: number): number => {
      const events = eventsOf(
        Array.from({ length: count }, (_, index) => [
          index % 2 === 0 ? 'tool_call' : 'tool_result',
          index,
          0,
          'read_file',
        ]),
      );
      const began = performance.now();
      expect(rowsOf(events)[0]?.durationMs).toBe(1);
      return performance.now() - began;
    };
    many(20_000);
    expect(many(160_000)).toBeLessThan(8 * 8 * (many(20_000) + 5));
  });
});

describe('the overview of a trace', () => {
  const rows = rowsOf(eventsOf([...TURN, ['save_failed', 100]]));
  const runs = (kind: string, columns: number) =>
    overviewOf(rows, columns).lanes.find((lane) => lane.kind === kind)?.runs;

  it('shows what was under way from its begin to its end', () => {
    expect(runs('model', 100)).toEqual([{ from: 11, columns: 50 }]);
    expect(runs('tool', 100)).toEqual([{ from: 71, columns: 20 }]);
    expect(runs('tool', 10)).toEqual([{ from: 7, columns: 3 }]);
  });

  it('shows each error and seam, however narrow it is', () => {
    for (const columns of [1, 7, 100, 2000]) {
      const { errors, seams } = overviewOf(rows, columns);
      expect([errors.length, seams.length]).toEqual([1, 1]);
      expect(Math.max(...errors, ...seams)).toBeLessThan(columns);
    }
  });

  it('leads to the first row at a column', () => {
    expect(rowAtColumn(rows, 0, 100)).toBe(0);
    expect(rowAtColumn(rows, 62, 100)).toBe(5);
    expect(rowAtColumn(rows, 99, 100)).toBe(12);
    expect(rowAtColumn(rowsOf(eventsOf(TURN.slice(0, 1))), 50, 100)).toBe(0);
  });
});
