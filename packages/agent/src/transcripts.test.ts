/**
 * Whole turns, word by word: what the model is sent, what the caller hears, what is recorded and what the files hold.
 * Every other test says which part of it matters and why; this one notices any other change. `vitest run packages/agent
 * -u` writes the files anew.
 */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { LlmEvent, RunEvent, TraceEvent } from '@orion/contracts';
import {
  callsReply,
  createFakeAdapter,
  createFakeClock,
  textReply,
  toolCall,
} from '@orion/testkit';
import type { FakeClock, FakeReply, SentRequest } from '@orion/testkit';
import { expect, test } from 'vitest';

import type { Orion, OrionOptions } from './index.ts';
import { temporaryDirectory, openOrion } from './testing/set-up.ts';

type Scene = {
  readonly name: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly replies: readonly FakeReply[];
  readonly options?: Partial<OrionOptions>;
  readonly act: (orion: Orion) => AsyncGenerator<unknown, void>;
};

const usage: LlmEvent = {
  type: 'usage',
  usage: { inputTokens: 10, outputTokens: 4, cachedTokens: 2, reasoningTokens: 1 },
};
const ended = (reason: 'length' | 'refusal', ...texts: string[]): LlmEvent[] => [
  ...textReply(...texts).slice(0, -1),
  { type: 'finish', reason },
];
const broken = (code: 'PROVIDER_ERROR' | 'STREAM_STALLED', ...texts: string[]): LlmEvent[] => [
  ...textReply(...texts).slice(0, -1),
  { type: 'error', error: { code, message: 'The connection broke.', retryable: true } },
];
const read = (path: string): LlmEvent[] => callsReply([toolCall('1', 'read_file', { path })]);
const begin = (args: object): LlmEvent[] =>
  callsReply([toolCall('b', BEGIN_TOOL_NAME, { intent: 'i', ...args })]);
const create = begin({ target_file: 'a.md', operation: 'create' });
const done = textReply('It is written.');

/** One turn with this task. */
function turn(content: string, more: object = {}) {
  return async function* run(orion: Orion): AsyncGenerator<RunEvent, void> {
    yield* orion.runTurn({ content, ...more });
  };
}

const write = turn('write a.md');

/** A turn that leaves a session open, and then what is done with it. */
function afterwards(
  next: (orion: Orion, sessionId: string) => AsyncIterable<unknown>,
): Scene['act'] {
  return async function* run(orion) {
    yield* write(orion);
    const [session] = await orion.listSessions();
    if (session === undefined) throw new Error('no session is left');
    yield { session };
    yield { described: orion.describeSession(session) };
    yield* next(orion, session.session_id);
    yield { left: await orion.listSessions() };
  };
}

const NEVER_DONE: readonly FakeReply[] = [
  create,
  textReply('one\n'),
  textReply(''),
  textReply(''),
  textReply(''),
];

const SCENES: readonly Scene[] = [
  {
    name: 'answer',
    replies: [
      [...textReply('Hello', ' you.').slice(0, -1), usage, { type: 'finish', reason: 'stop' }],
    ],
    act: turn('Hello'),
  },
  {
    name: 'tools',
    files: { 'a.txt': 'text\n' },
    replies: [read('a.txt'), read('../b.txt'), textReply('done')],
    act: turn('look', { protocol: 'two_stage' }),
  },
  {
    name: 'plan-mode',
    replies: [create, textReply('A plan.')],
    act: turn('plan', { mode: 'plan' }),
  },
  {
    name: 'conversation',
    replies: [textReply('One.'), textReply('Two.')],
    act: async function* run(orion) {
      yield* turn('first', { conversationId: 'c1' })(orion);
      yield await orion.findConversation({ conversationId: 'c1' });
      yield* turn('second', { conversationId: 'c1' })(orion);
    },
  },
  { name: 'refusal', replies: [ended('refusal', 'I will not.')], act: turn('Hello') },
  { name: 'cut-answer', replies: [ended('length', 'Half')], act: turn('Hello') },
  { name: 'provider-error', replies: [broken('PROVIDER_ERROR', 'Half')], act: turn('Hello') },
  { name: 'create', replies: [create, textReply('# A\n', 'text\nDONE\n'), done], act: write },
  {
    name: 'overwrite',
    files: { 'a.md': 'old\r\ntext\r\n' },
    replies: [
      begin({ target_file: 'a.md', operation: 'overwrite' }),
      textReply('new\ntext\nDONE'),
      done,
    ],
    act: write,
  },
  {
    name: 'append',
    files: { 'a.md': 'old' },
    replies: [
      begin({ target_file: 'a.md', operation: 'append', start_on_new_line: true }),
      textReply('new\nDONE\n'),
      done,
    ],
    act: write,
  },
  {
    name: 'insert',
    files: { 'a.md': 'one\ntwo\n' },
    replies: [
      begin({
        target_file: 'a.md',
        operation: 'insert',
        location: { marker: 'one', position: 'after' },
      }),
      textReply('between\nDONE\n'),
      done,
    ],
    act: write,
  },
  {
    name: 'refused-begin',
    replies: [
      begin({ target_file: '../a.md', operation: 'create' }),
      begin({ target_file: 'a.md', operation: 'dream' }),
      begin({ target_file: 'a.md', operation: 'create', content: 'x'.repeat(400) }),
      textReply('I cannot.'),
    ],
    act: write,
  },
  {
    name: 'asked-for-done',
    replies: [create, textReply('one\ntwo\n'), textReply('DONE'), done],
    act: write,
  },
  {
    name: 'asked-for-the-end',
    replies: [create, textReply('one\nDONE\ntwo\nDONE\nthree\n'), textReply('END 2'), done],
    act: write,
  },
  {
    name: 'asked-about-a-near-miss',
    replies: [create, textReply('one\ntwo\nDONE.\n'), textReply('DONE'), done],
    act: write,
  },
  {
    name: 'asked-about-a-fence',
    files: { 'a.py': '' },
    replies: [
      begin({ target_file: 'b.md', operation: 'create' }),
      textReply('```python\nprint(1)\n```\nDONE\n'),
      textReply('STRIP'),
      done,
    ],
    act: turn('write b.md'),
  },
  {
    name: 'asked-about-omissions',
    files: { 'a.py': 'def a():\n    return 1\n\n\ndef b():\n    return 2\n' },
    replies: [
      begin({ target_file: 'a.py', operation: 'overwrite' }),
      textReply('def a():\n    return 3\n\n\n# ... rest of the code unchanged ...\nDONE\n'),
      textReply('KEEP'),
      done,
    ],
    act: write,
  },
  {
    name: 'invalid-text',
    replies: [
      create,
      textReply('one \ud800 two\nDONE\n'),
      textReply('{"corrections": []}'),
      textReply('{"corrections": []}'),
      textReply('{"corrections": []}'),
      done,
    ],
    act: write,
  },
  {
    name: 'cut-and-continued',
    replies: [
      create,
      ended('length', 'line one\nline two\nline three\nline fo'),
      textReply('line one\nline two\nline three\nline four\nDONE\n'),
      done,
    ],
    act: write,
  },
  {
    name: 'broken-and-resent',
    replies: [
      create,
      broken('PROVIDER_ERROR', 'line one\nline two\n'),
      textReply('line one\nline two\nline three\nDONE\n'),
      done,
    ],
    act: write,
  },
  {
    name: 'broken-for-good',
    replies: [
      create,
      broken('PROVIDER_ERROR', 'line one\n'),
      broken('STREAM_STALLED'),
      broken('PROVIDER_ERROR'),
      broken('PROVIDER_ERROR'),
    ],
    act: write,
  },
  {
    name: 'tools-while-writing',
    replies: [
      create,
      callsReply([toolCall('2', 'read_file', { path: 'x' })], 'one\n'),
      textReply('DONE\n'),
      done,
    ],
    act: write,
  },
  {
    name: 'refused-content',
    replies: [create, ended('refusal', 'one\n')],
    act: write,
  },
  {
    name: 'controller',
    options: { protocol: 'controller' },
    replies: [
      textReply(
        JSON.stringify({
          action: 'next_step',
          thinking: { task: 't' },
          tool: BEGIN_TOOL_NAME,
          args: { intent: 'i', target_file: 'a.md', operation: 'create' },
        }),
      ),
      textReply('text\nDONE\n'),
      textReply(JSON.stringify({ action: 'complete', message: 'It is written.' })),
    ],
    act: write,
  },
  {
    name: 'not-approved',
    options: { approve: 'never' },
    replies: [create, textReply('one\nDONE\n')],
    act: write,
  },
  {
    name: 'never-done-finalized',
    replies: NEVER_DONE,
    act: afterwards(async function* finalize(orion, sessionId) {
      yield* orion.finalizeSession({ sessionId });
    }),
  },
  {
    name: 'never-done-recovered',
    replies: [...NEVER_DONE, textReply('DONE\n')],
    act: afterwards(async function* recover(orion, sessionId) {
      yield* orion.recoverSession({ sessionId });
    }),
  },
  {
    name: 'never-done-discarded',
    replies: NEVER_DONE,
    act: afterwards(async function* discard(orion, sessionId) {
      yield await orion.discardSession(sessionId);
    }),
  },
  {
    name: 'plan-and-undo',
    files: { 'a.md': 'one\ntwo\n' },
    replies: [],
    act: async function* run(orion) {
      yield await orion.applyPlan({
        intent: 'two files',
        operations: [
          { type: 'create', target_file: 'b/c.md', content: 'new\n' },
          {
            type: 'replace',
            target_file: 'a.md',
            location: { start_marker: 'one', end_marker: 'two', include_markers: true },
            content: 'three',
          },
        ],
      });
      yield await Array.fromAsync(orion.changes());
      yield await orion.undo();
      yield await Array.fromAsync(orion.changes());
      yield await orion
        .applyPlan({ intent: 'i', operations: [{ type: 'append', target_file: 'none.md' }] })
        .catch((error: unknown) => ({ error }));
    },
  },
  {
    name: 'unknown-tool',
    files: { 'a.md': 'one\n' },
    replies: [
      callsReply([
        toolCall('p', 'WritePlanTool', {
          intent: 'i',
          operations: [{ type: 'append', target_file: 'a.md', content: 'two\n' }],
        }),
      ]),
      done,
    ],
    act: write,
  },
];

test.for(SCENES)(
  '$name',
  { timeout: 20_000 },
  async ({ name, files = {}, replies, options, act }) => {
    const root = await temporaryDirectory();
    for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text);
    const adapter = createFakeAdapter(replies, { structuredOutput: true });
    const clock = createFakeClock();
    const traces: TraceEvent[] = [];
    const orion = await openOrion({
      workspace: root,
      adapter,
      clock,
      onTrace: (event) => traces.push(event),
      ...options,
    });
    const events: unknown[] = [];
    const waits = passTime(clock, () => events.length + traces.length + adapter.requests.length);
    for await (const event of act(orion)) events.push(event);
    waits.end();
    const lineOf = createLines(root, PROMPTS_SHOWN.has(name));
    const text = [
      ...requestLines(adapter.requests, lineOf),
      'EVENTS',
      ...withoutProgress(events).map(changesOnly(ABOUT_EVENT)).map(lineOf),
      'RECORDED',
      // When the disk has saved is the disk's affair.
      ...traces
        .filter(({ type }) => type !== 'write_session_saved')
        .map(changesOnly(ABOUT_TRACE))
        .map(lineOf),
      'FILES',
      ...(await filesOf(root)).map(lineOf),
      '',
    ].join('\n');
    await expect(text).toMatchFileSnapshot(`__snapshots__/transcripts/${name}.txt`);
    adapter.assertConsumed();
  },
);

/** Who waits for the clock waits until nothing else happens: no more requests, events and records for a while. */
function passTime(clock: FakeClock, happened: () => number): { end(): void } {
  let before = happened();
  const timer = setInterval(() => {
    const now = happened();
    if (now === before) void clock.advance(2_000);
    before = now;
  }, 20);
  return { end: () => clearInterval(timer) };
}

type LineOf = (value: unknown) => string;

/** Of a request what the ones before it did not have; the offered tools are others' affair. */
function requestLines(requests: readonly SentRequest[], lineOf: LineOf): string[] {
  const known: string[] = [];
  return requests.flatMap(({ messages, options: { signal: _, tools = [], ...options } }) => {
    const shown = { ...options, tools: tools.map((tool) => tool.name) };
    const lines = [...messages.map(lineOf), `options ${lineOf(shown)}`];
    const own = lines.filter((line) => !known.includes(line));
    known.push(...own);
    return [`REQUEST of ${lines.map((line) => known.indexOf(line)).join(' ')}`, ...own];
  });
}

/** Without what was the same in the one before. */
function changesOnly(about: readonly string[]): (value: unknown) => unknown {
  let before: Readonly<Record<string, unknown>> = {};
  return (value) => {
    const now = value as Readonly<Record<string, unknown>>;
    const same = about.filter((name) => name in now && now[name] === before[name]);
    before = now;
    return Object.fromEntries(Object.entries(now).filter(([name]) => !same.includes(name)));
  };
}

const ABOUT_EVENT = ['requestId', 'projectId', 'conversationId', 'protocol'];
const ABOUT_TRACE = ['requestId', 'projectId', 'source'];

/** Elsewhere its first line stands for it. */
const PROMPTS_SHOWN: ReadonlySet<string> = new Set(['answer', 'plan-mode', 'controller']);

/** Names that are new in every run are told by the order in which they come. */
function createLines(root: string, showsPrompts: boolean): LineOf {
  const names = new Map<string, string>();
  const named = (kind: string) => (name: string) => {
    if (!names.has(name)) names.set(name, `<${kind} ${names.size + 1}>`);
    return names.get(name) ?? '';
  };
  return (value) =>
    (
      JSON.stringify(value, (key, each: unknown) => {
        if (UNSTEADY.has(key) || each === null) return undefined;
        const isPrompt = typeof each === 'string' && each.startsWith('You are Orion');
        return isPrompt && !showsPrompts ? each.slice(0, each.indexOf('\n')) : each;
      }) ?? ''
    )
      .replaceAll(root, '<workspace>')
      .replaceAll(/\b\d{8}T\d{9}Z-(?:[0-9a-f]{8}){1,2}\b/g, named('backup'))
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, named('id'))
      .replaceAll(/\b(DONE |tail-)[0-9a-f]{4}\b/g, '$1<hex>')
      // The clock goes on while a turn waits for the disk.
      .replaceAll(/("limit":"stopSeconds","used":)[\d.]+/g, '$1"<time>"');
}

/** Times, lengths of what holds paths, and what counts events of which the disk decides how many there are. */
const UNSTEADY: ReadonlySet<string> = new Set([
  'timestamp',
  'created_at',
  'createdAt',
  'updatedAt',
  'age_ms',
  'durableBytes',
  'raw',
  'id',
  'seq',
  'contentLength',
]);

/** Without what is said when more of the text is saved: that is the disk's affair. */
function withoutProgress(events: readonly unknown[]): readonly unknown[] {
  return events.filter((event) => (event as { readonly type: string }).type !== 'write_progress');
}

async function filesOf(root: string): Promise<readonly object[]> {
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(root, '.orion')));
  return Promise.all(
    paths.toSorted().map(async (path) => ({ path, text: await readFile(path, 'utf8') })),
  );
}
