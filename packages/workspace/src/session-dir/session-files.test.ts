import { expect, test } from 'vitest';

import {
  formatState,
  numberedName,
  parseMetadata,
  parseState,
  parseTurn,
  rootOf,
  textNumber,
} from './session-files.ts';

type Json = { readonly [name: string]: unknown };

/** Everything that a place in a file is not, if it is none of these. */
const OTHERS: Readonly<Record<string, unknown>> = {
  'left out': undefined,
  null: null,
  'a text': 'something else',
  'a number': 1.5,
  'a count': 7,
  'less than nothing': -1,
  true: true,
  false: false,
  'a list': [],
  'a list of numbers': [1],
  'an object': {},
};

/** The file with something else at this place. */
function spoilt(value: Json, [name = '', ...rest]: readonly string[], other: unknown): Json {
  const inner = value[name];
  const changed =
    rest.length === 0
      ? other
      : Array.isArray(inner)
        ? [spoilt(inner[0] as Json, rest.slice(1), other)]
        : spoilt(inner as Json, rest, other);
  return { ...value, [name]: changed };
}

/** What may stand at each place, by the names above. */
type Allowed = Readonly<Record<string, readonly string[]>>;

function casesOf(allowed: Allowed): [place: string, other: string, isGood: boolean][] {
  return Object.entries(allowed).flatMap(([place, good]) =>
    Object.keys(OTHERS).map((other): [string, string, boolean] => [
      place,
      other,
      good.includes(other),
    ]),
  );
}

function check(base: Json, allowed: Allowed, isGood: (text: string) => boolean): void {
  expect(isGood(JSON.stringify(base))).toBe(true);
  for (const [place, other, expected] of casesOf(allowed)) {
    const text = JSON.stringify(spoilt(base, place.split('.'), OTHERS[other]));
    expect(isGood(text), `${place}: ${other}`).toBe(expected);
  }
}

const TEXT = ['a text'];
const COUNT = ['a count'];
const BOOLEAN = ['true', 'false'];
const FLAG = ['left out', 'true'];
const OPTIONAL_TEXT = ['left out', 'a text'];
const OPTIONAL_COUNT = ['left out', 'a count'];
const TEXT_OR_NULL = ['null', 'a text'];
const NEVER: readonly string[] = [];

const target = {
  path: 'a.txt',
  realPath: '/w/a.txt',
  exists: true,
  sha256: 'f00d',
  bytes: 3,
  mode: 0o644,
  eol: 'lf',
  bom: false,
};
const metadata = {
  version: 1,
  session_id: 'id',
  intent: 'i',
  target_file: 'a.txt',
  operation: 'create',
  created_at: '2026-01-02T03:04:05.000Z',
  end_marker: 'DONE ab12',
  final_newline: true,
  target,
};
const TARGET: Allowed = {
  target: NEVER,
  'target.path': TEXT,
  'target.realPath': TEXT,
  'target.exists': BOOLEAN,
  'target.sha256': TEXT_OR_NULL,
  'target.bytes': COUNT,
  'target.mode': COUNT,
  'target.eol': NEVER,
  'target.bom': BOOLEAN,
  'target.encoding': ['left out'],
  'target.unterminated': FLAG,
  'target.beginsBlank': FLAG,
  'target.allowed': ['left out'],
};
const isGoodMetadata = (text: string): boolean => parseMetadata(text, 'id').kind === 'good';

test('metadata.json: every field is what it has to be, or the file is damaged', () => {
  check(
    metadata,
    {
      session_id: NEVER,
      intent: TEXT,
      target_file: TEXT,
      operation: NEVER,
      created_at: NEVER,
      end_marker: TEXT,
      final_newline: BOOLEAN,
      start_on_new_line: FLAG,
      keep_leading_blank_lines: FLAG,
      location: ['left out'],
      ...TARGET,
    },
    isGoodMetadata,
  );
});

test.each(['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be', 'binary', '8-bit'])(
  'an encoding of the target: %s',
  (encoding) => {
    expect(isGoodMetadata(JSON.stringify({ ...metadata, target: { ...target, encoding } }))).toBe(
      true,
    );
  },
);

test.each(['lf', 'crlf', 'mixed', 'none'])('a line ending of the target: %s', (eol) => {
  expect(isGoodMetadata(JSON.stringify({ ...metadata, target: { ...target, eol } }))).toBe(true);
});

test('what was allowed for the target', () => {
  const allowed = { paths: ['a'], hardLink: false };
  check(
    { ...metadata, target: { ...target, allowed } },
    { 'target.allowed.paths': ['a list'], 'target.allowed.hardLink': BOOLEAN },
    isGoodMetadata,
  );
});

test('an edit has its place, and nothing else has one', () => {
  const insert = {
    ...metadata,
    operation: 'insert',
    location: { marker: 'm', marker_type: 'string', position: 'after' },
  };
  check(
    insert,
    {
      location: NEVER,
      'location.marker': TEXT,
      'location.marker_type': NEVER,
      'location.position': NEVER,
    },
    isGoodMetadata,
  );
  const replace = {
    ...metadata,
    operation: 'replace',
    location: { start_marker: 's', end_marker: 'e', include_markers: true, marker_type: 'regex' },
  };
  check(
    replace,
    {
      location: NEVER,
      'location.start_marker': TEXT,
      'location.end_marker': TEXT,
      'location.include_markers': BOOLEAN,
      'location.marker_type': NEVER,
    },
    isGoodMetadata,
  );
  const before = { ...insert, location: { ...insert.location, position: 'before' } };
  expect(isGoodMetadata(JSON.stringify(before))).toBe(true);
  for (const operation of ['append', 'overwrite']) {
    expect(isGoodMetadata(JSON.stringify({ ...metadata, operation }))).toBe(true);
    expect(isGoodMetadata(JSON.stringify({ ...insert, operation }))).toBe(false);
  }
});

test('metadata.json without the marks of whose it is', () => {
  const marked = JSON.stringify({ ...metadata, mac: 'm', root: '..' });
  expect(parseMetadata(marked, 'id')).toEqual({ kind: 'good', value: metadata });
  expect(rootOf(marked)).toBe('..');
  expect(rootOf(JSON.stringify({ root: 7 }))).toBeUndefined();
  expect(rootOf('no JSON')).toBeUndefined();
});

test.each([
  ['no JSON', 'invalid'],
  ['[]', 'invalid'],
  ['{}', 'invalid'],
  ['{"version":0}', 'invalid'],
  ['{"version":"2"}', 'invalid'],
  ['{"version":2}', 'newer'],
  ['{"version":1}', 'invalid'],
])('%s is %s', (text, kind) => {
  expect(parseMetadata(text, 'id')).toEqual({ kind });
  expect(parseState(text)).toEqual({ kind });
  expect(parseTurn(text)).toBeNull();
});

const seam = {
  line: 3,
  status: 'verified',
  via: 'anchor',
  lines_dropped: 1,
  text_set_aside: 0,
  conversion: 'none',
};
const correction = { start: 1, end: 4, text: 'x' };
const record = {
  version: 1,
  state: 'session_active.awaiting_content',
  fence_stripped: false,
  fence_asked: true,
  inner_done_lines: [2],
  seams: [seam],
  idle_prompts: 1,
  repair: { found: 2, replace: false, rounds: [[correction]] },
  question: { kind: 'near_miss', text: 'DONE.', contentEnd: 9, heldBack: false },
} as const;
const result = {
  path: 'a.txt',
  sha256: 'f00d',
  mode: 'overwritten',
  bytes: 3,
  lines: 1,
  eol: 'lf',
  bom: false,
  warnings: ['w'],
  not_kept: ['owner'],
};
const writing = { temp: '.t', before: null, after: 'f00d', result } as const;
const state = {
  ...record,
  buffer_size: 12,
  line_count: 2,
  last_save: '2026-01-02T03:04:05.000Z',
  content_file: 'content.2.txt',
  writing,
};

test('state.json: what the store needs, or the file is damaged', () => {
  check(
    state,
    {
      buffer_size: COUNT,
      line_count: COUNT,
      last_save: NEVER,
      content_file: NEVER,
      writing: ['left out'],
      'writing.temp': TEXT,
      'writing.target': OPTIONAL_TEXT,
      'writing.before': TEXT_OR_NULL,
      'writing.after': TEXT,
      'writing.stands': FLAG,
      'writing.lines_before': OPTIONAL_COUNT,
      'writing.result': NEVER,
      'writing.result.path': TEXT,
      'writing.result.sha256': TEXT,
      'writing.result.mode': TEXT,
      'writing.result.bytes': COUNT,
      'writing.result.lines': COUNT,
      'writing.result.eol': NEVER,
      'writing.result.bom': BOOLEAN,
      'writing.result.backup_id': OPTIONAL_TEXT,
      'writing.result.backup_path': OPTIONAL_TEXT,
      'writing.result.warnings': ['a list'],
      'writing.result.not_kept': ['a list'],
    },
    (text) => parseState(text).kind === 'good',
  );
});

test('state.json: a record that is none is left out, and the rest is good', () => {
  check(
    state,
    {
      state: NEVER,
      question: ['left out'],
      content_start: OPTIONAL_COUNT,
      content_end: OPTIONAL_COUNT,
      fence_stripped: BOOLEAN,
      fence_asked: BOOLEAN,
      omissions_asked: ['left out', 'true', 'false'],
      repair: ['left out'],
      'repair.found': COUNT,
      'repair.replace': BOOLEAN,
      'repair.rounds': ['a list'],
      inner_done_lines: ['a list', 'a list of numbers'],
      has_ended: ['left out', 'true', 'false'],
      leading_blank_lines_dropped: OPTIONAL_COUNT,
      ends_settled: OPTIONAL_COUNT,
      seams: ['a list'],
      'seams.0.line': COUNT,
      'seams.0.status': TEXT,
      'seams.0.via': TEXT,
      'seams.0.lines_dropped': COUNT,
      'seams.0.text_set_aside': COUNT,
      'seams.0.conversion': TEXT,
      idle_prompts: COUNT,
      code: OPTIONAL_TEXT,
    },
    (text) => {
      const parsed = parseState(text);
      expect(parsed.kind).toBe('good');
      if (parsed.kind !== 'good') return false;
      expect(parsed.value.recordIsDamaged).toBe(parsed.value.record === null);
      return parsed.value.record !== null;
    },
  );
});

test.each([
  [[correction], true],
  [[], true],
  [[correction, { start: 4, end: 5, text: '' }], true],
  [[correction, { start: 3, end: 5, text: '' }], false],
  [[{ ...correction, end: 1 }], false],
  [[{ ...correction, start: '1' }], false],
  [[{ ...correction, end: undefined }], false],
  [[{ ...correction, text: 1 }], false],
  [[7], false],
  [7, false],
])('a round of corrections %j: %s', (round, expected) => {
  const text = JSON.stringify({ ...state, repair: { ...record.repair, rounds: [round] } });
  const parsed = parseState(text);
  expect(parsed.kind === 'good' && parsed.value.record !== null).toBe(expected);
});

test.each([
  'idle',
  'session_active.awaiting_content',
  'session_active.awaiting_done_or_more_content',
  'session_active.awaiting_answer',
  'session_active.finalizing',
  'session_active.needs_corrections',
  'session_active.paused',
  'done',
  'aborted',
] as const)('a session may be %s', (name) => {
  const saved = {
    record: { ...record, state: name },
    bufferSize: 12,
    lineCount: 2,
    lastSave: state.last_save,
    contentFile: 'content.txt',
    writing: null,
  };
  const value = { ...saved, recordIsDamaged: false };
  expect(parseState(formatState(saved as never))).toEqual({ kind: 'good', value });
});

test('state.json is one line, with its parts under their names', () => {
  const text = formatState({
    record: null,
    bufferSize: 12,
    lineCount: 2,
    lastSave: state.last_save,
    contentFile: 'content.2.txt',
    writing: writing as never,
    recoveredAt: state.last_save,
  });
  expect(text.endsWith('}\n')).toBe(true);
  expect(JSON.parse(text)).toEqual({
    version: 1,
    buffer_size: 12,
    line_count: 2,
    last_save: state.last_save,
    content_file: 'content.2.txt',
    writing,
    recovered_at: state.last_save,
  });
  expect(parseState(text)).toMatchObject({
    kind: 'good',
    value: { record: null, recordIsDamaged: false, writing, recoveredAt: state.last_save },
  });
});

const ends = [{ line: 3, contentEnd: 9, following: 'end_of_it' }];
test.each([
  [
    { kind: 'end', candidates: ends, nearMiss: { text: 'DONE.', contentEnd: 12 } },
    {
      kind: 'end',
      candidates: [{ line: 3, content_end: 9, following: 'end_of_it' }],
      near_miss: { text: 'DONE.', content_end: 12 },
    },
  ],
  [
    { kind: 'near_miss', text: 'aB', contentEnd: 9, heldBack: false },
    { kind: 'near_miss', text: 'aB', content_end: 9, held_back: false },
  ],
  [
    { kind: 'fence', contentStart: 1, contentEnd: 9, firstLine: 'a', lastLine: 'b' },
    { kind: 'fence', content_start: 1, content_end: 9, first_line: 'a', last_line: 'b' },
  ],
  [
    { kind: 'lead', text: 'a', contentStart: 1 },
    { kind: 'lead', text: 'a', content_start: 1 },
  ],
  [
    { kind: 'omission', lines: [{ line: 1, text: 'a' }], count: 1 },
    { kind: 'omission', lines: [{ line: 1, text: 'a' }], count: 1 },
  ],
])(
  'the question %j is stored in snake case, and read as it was stored before',
  (question, stored) => {
    const saved = {
      record: { ...record, question },
      bufferSize: 12,
      lineCount: 2,
      lastSave: state.last_save,
      contentFile: 'content.txt',
      writing: null,
    };
    const text = formatState(saved as never);
    const written = JSON.parse(text) as Json;
    expect(written['question']).toEqual(stored);
    const value = { ...saved, recordIsDamaged: false };
    expect(parseState(text)).toEqual({ kind: 'good', value });
    expect(parseState(JSON.stringify({ ...written, question }))).toEqual({ kind: 'good', value });
  },
);

test('a question may be nested as deep as it likes', () => {
  const question = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const text = JSON.stringify({ ...state, question: 0 }).replace(
    '"question":0',
    `"question":${question}`,
  );
  expect(parseState(text)).toMatchObject({ kind: 'good', value: { recordIsDamaged: true } });
});

test('turn.json: every field is what it has to be, or a recovery asks elsewhere', () => {
  const turn = {
    version: 1,
    requestId: 'r',
    projectId: 'p',
    conversationId: 'c',
    provider: 'v',
    model: 'm',
    protocol: 's',
    callId: 'k',
    mode: 'act',
    messages: [{ role: 'user' }],
    options: {},
  };
  check(
    turn,
    {
      version: NEVER,
      requestId: TEXT,
      projectId: TEXT,
      conversationId: TEXT,
      provider: TEXT,
      model: TEXT,
      protocol: TEXT,
      callId: TEXT,
      mode: NEVER,
      baseUrl: OPTIONAL_TEXT,
      messages: ['a list'],
      'messages.0.role': TEXT,
      options: ['an object'],
    },
    (text) => parseTurn(text) !== null,
  );
  expect(parseTurn(JSON.stringify({ ...turn, mode: 'plan' }))).toEqual({ ...turn, mode: 'plan' });
});

test.each([
  ['content.txt', 1],
  ['content.2.txt', 2],
  ['content.10.txt', 10],
  ['content.999999.txt', 999_999],
  ['content.1000000.txt', null],
  ['content.02.txt', null],
  ['content.0.txt', null],
  ['xcontent.txt', null],
  ['content.txt.bak', null],
  ['content.x.txt', null],
])('%s has the number %s', (name, number) => {
  expect(textNumber('content', name)).toBe(number);
  if (number !== null) expect(numberedName('content', number)).toBe(name);
});
