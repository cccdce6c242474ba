import type { TraceInput } from '@orion/contracts';
import { expect, test } from 'vitest';

import { batchSize, insertRows, SELECT_LAST_ID, selectEvents } from './trace-statements.ts';
import { prepareTrace } from '../safety/trace-event.ts';
import { TRACE_COLUMNS, toTraceEvent, toTraceRow } from './trace-row.ts';
import type { TraceRow } from './trace-row.ts';

/** Hazard: a statement that asks for other events than the filter, or a row whose values stand in other columns. */

const COLUMNS =
  'type, project_id, request_id, session_id, source, summary, direction, tool_name, phase_index, cycle_index, timestamp, body, error, metadata, truncated, uid, raw';

test.each([
  [{}, '', []],
  [{ projectId: 'p' }, 'where project_id = $1 ', ['p']],
  [{ requestId: 'r', type: 't' }, 'where request_id = $1 and type = $2 ', ['r', 't']],
  [
    { sessionId: 's', from: 1.2, to: 3.8 },
    'where session_id = $1 and timestamp >= $2 and timestamp <= $3 ',
    ['s', 2, 3],
  ],
  [{ from: Number.NaN, to: Number.NaN }, 'where timestamp >= $1 and timestamp <= $2 ', [0, 0]],
  [
    { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY },
    'where timestamp >= $1 and timestamp <= $2 ',
    [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ],
])('the newest events of %j', (filter, where, parameters) => {
  const { sql, parameters: given } = selectEvents(filter, { order: 'desc', limit: 7 });
  expect(sql.replaceAll(/\s+/gu, ' ')).toBe(
    `select id, ${COLUMNS} from trace_event ${where}order by id desc limit $${parameters.length + 1}`,
  );
  expect(given).toEqual([...parameters, 7]);
});

test('a page between two numbers, oldest first', () => {
  const { sql, parameters } = selectEvents(
    { type: 't' },
    { order: 'asc', limit: 5, after: 0, last: 9 },
  );
  expect(sql).toBe(
    `select id, ${COLUMNS} from trace_event where id > $1 and id <= $2 and type = $3 order by id asc limit $4`,
  );
  expect(parameters).toEqual([0, 9, 't', 5]);
  expect(SELECT_LAST_ID).toBe('select coalesce(max(id), 0) as last from trace_event');
});

test.each([
  ['sqlite', 500, 100],
  ['sqlite', 100, 100],
  ['sqlite', 99, 20],
  ['sqlite', 20, 20],
  ['sqlite', 19, 5],
  ['sqlite', 7, 5],
  ['sqlite', 4, 1],
  ['sqlite', 0, 1],
  ['postgres', 99, 99],
] as const)('in %s of %i rows one statement takes %i', (dialect, rows, size) => {
  expect(batchSize(dialect, rows)).toBe(size);
});

const EVENT: TraceInput = {
  type: 'a_type',
  projectId: 'p',
  requestId: 'r',
  sessionId: 's',
  source: 'core',
  summary: 'in short',
  direction: 'out',
  toolName: 'tool',
  phaseIndex: 0,
  cycleIndex: 2,
  timestamp: 1_700_000_000_000.7,
  details: { a: 1 },
  error: { b: 2 },
  metadata: [3],
};

const row = (uid: string, details: unknown = { a: 1 }): TraceRow =>
  toTraceRow(prepareTrace({ ...EVENT, details }, 0), uid);

test('a row has its values in the order of the columns, and says how much it holds', () => {
  const { values, bytes } = row('u1');
  expect(values).toEqual([
    'a_type',
    'p',
    'r',
    's',
    'core',
    'in short',
    'out',
    'tool',
    0,
    2,
    1_700_000_000_000,
    null,
    '{"b":2}',
    '[3]',
    0,
    'u1',
    '{"a":1}',
  ]);
  expect(values).toHaveLength(TRACE_COLUMNS.length);
  expect(bytes).toBe(500 + 2 * (7 + 0 + 7 + 3 + 8));
  const projected = row('u2', { 'a\u0000': 1 });
  const [body, raw] = [projected.values[11], projected.values[16]];
  expect(raw).toBe('{"a\\u0000":1}');
  expect(body).not.toBeNull();
  expect(projected.bytes).toBe(500 + 2 * (13 + String(body).length + 7 + 3 + 8));
});

test('every column of a row comes back as what it was made of', () => {
  const prepared = prepareTrace(EVENT, 0);
  const { values } = toTraceRow(prepared, 'u1');
  const columns = TRACE_COLUMNS.map(({ name }, index) => [name, values[index] ?? null] as const);
  expect(toTraceEvent({ id: 7, ...Object.fromEntries(columns) })).toEqual({
    id: 7,
    ...prepared.event,
  });
});

test('rows go into SQLite one after the other, and again only where they may be there', () => {
  const rows = Array.from({ length: 5 }, (_, index) => row(`u${index}`));
  const { sql, parameters } = insertRows('sqlite', rows, false);
  expect(sql.replaceAll(/\s+/gu, ' ')).toContain(`insert into trace_event (${COLUMNS}) values`);
  expect(sql).not.toContain('on conflict');
  expect(parameters).toEqual(rows.flatMap(({ values }) => values));
  expect(insertRows('sqlite', rows, true).sql).toBe(`${sql} on conflict (uid) do nothing`);
});

test('rows go into Postgres as one array for each column, and one text for each row', () => {
  const rows = [row('u0'), row('u1')];
  const { sql, parameters } = insertRows('postgres', rows, false);
  expect(sql.replaceAll(/\s+/gu, ' ')).toMatchSnapshot();
  expect(parameters).toEqual([
    ...TRACE_COLUMNS.slice(0, -1).map((_, column) => rows.map(({ values }) => values[column])),
    '{"a":1}',
    '{"a":1}',
  ]);
  expect(insertRows('postgres', rows, true).sql).toBe(`${sql} on conflict (uid) do nothing`);
});

test('a row that holds what it should not is an event all the same', () => {
  const nothing = {
    type: 'unknown',
    projectId: null,
    requestId: null,
    sessionId: null,
    source: null,
    summary: null,
    direction: null,
    toolName: null,
    phaseIndex: null,
    cycleIndex: null,
    details: null,
    error: null,
    metadata: null,
  };
  expect(toTraceEvent({ id: 7, timestamp: 1 })).toEqual({
    ...nothing,
    id: 7,
    timestamp: 1,
    raw: 'null',
    truncated: false,
  });
  expect(
    toTraceEvent({
      id: 8,
      type: 5,
      project_id: 5,
      direction: 'up',
      phase_index: '0',
      cycle_index: 3,
      timestamp: '9',
      body: '{"cut":true}',
      error: 'no json',
      metadata: '[1]',
      raw: '{"cu',
      truncated: 1,
    }),
  ).toEqual({
    ...nothing,
    id: 8,
    cycleIndex: 3,
    timestamp: 9,
    details: { cut: true },
    metadata: [1],
    raw: '{"cu',
    truncated: true,
  });
  expect(
    toTraceEvent({
      id: 9,
      type: 't',
      direction: 'in',
      timestamp: 1,
      raw: '{"a":1}',
      body: '{"b":1}',
      truncated: 0,
    }),
  ).toMatchObject({
    type: 't',
    direction: 'in',
    details: { a: 1 },
    truncated: false,
  });
});
