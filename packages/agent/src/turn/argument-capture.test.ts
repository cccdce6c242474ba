import { systemClock } from '@orion/contracts';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { LlmEvent, RunEvent } from '@orion/contracts';
import { callsReply, collect, createFakeAdapter, textReply, toolCall } from '@orion/testkit';
import type { FakeReply } from '@orion/testkit';
import { createWorkspace } from '@orion/workspace';
import { describe, expect, test } from 'vitest';

import type { OrionOptions } from '../orion.ts';
import { tool } from '../testing/taken-turn.ts';
import { beginCall, openOrion, temporaryDirectory } from '../testing/set-up.ts';
import { captureArguments } from './argument-capture.ts';
import { KeptTexts } from './kept-texts.ts';

const LONG = 'ü\n'.repeat(400);

async function prepare(events: readonly LlmEvent[]) {
  const root = await temporaryDirectory();
  const workspace = await createWorkspace({ root, clock: systemClock });
  const kept = new KeptTexts(workspace);
  const adapter = captureArguments(createFakeAdapter([events]), kept);
  const seen = await collect(adapter.sendMessagesStreaming([], {}));
  const texts = (): Promise<string[]> => readdir(join(root, '.orion', 'texts')).catch(() => []);
  return { root, kept, seen, texts };
}

test('R258: each content is kept whole, is named by its call, and goes when the call has succeeded', async () => {
  const call = toolCall('1', 'mcp_write', {
    files: [{ content: LONG }, { text: `${LONG}!` }],
    path: LONG,
  });
  const { root, kept, seen, texts } = await prepare(callsReply([call]));
  const [end] = seen.flatMap((event) => (event.type === 'tool-call-end' ? [event.call] : []));
  expect(end?.kept).toMatchObject([
    { name: 'content', lines: 401, bytes: 1200 },
    { name: 'text', lines: 401, bytes: 1201 },
  ]);
  expect(await readFile(join(root, end?.kept?.[0]?.path ?? ''), 'utf8')).toBe(LONG);
  expect(await texts()).toHaveLength(2);
  await kept.discard([{ name: 'content', path: 'another', lines: 401, bytes: 1200 }]);
  expect(await texts()).toHaveLength(2);
  await kept.discard(end?.kept ?? []);
  expect(await texts()).toEqual([]);
});

test('R258: what is no content, or empty, is left alone', async () => {
  const call = toolCall('1', 'read_file', { path: LONG, content: '' });
  const { seen, texts } = await prepare(callsReply([call]));
  expect(seen).toEqual(callsReply([call]));
  expect(await texts()).toEqual([]);
});

test('R258: a short content is kept, too', async () => {
  const call = toolCall('1', 'no_such_tool', { content: 'short\n' });
  const { root, seen } = await prepare(callsReply([call]));
  const [kept] = seen.flatMap((event) =>
    event.type === 'tool-call-end' ? (event.call.kept ?? []) : [],
  );
  expect(kept).toMatchObject({ name: 'content', lines: 2, bytes: 6 });
  expect(await readFile(join(root, kept?.path ?? ''), 'utf8')).toBe('short\n');
});

describe('R258: arguments that are no JSON are kept as they came, and nothing else of them', () => {
  const broken: readonly (readonly [string, string])[] = [
    [
      'with quotes that are not escaped',
      '{"content": "const a = "x";\\nconst b = 1;", "path": "a"}',
    ],
    ['where the quotes come late', `{"content": ${JSON.stringify(LONG).slice(0, -1)}"x" }`],
    ['with real line breaks in a string', '{"content": "one\ntwo"}'],
    ['that are no object', 'a = 1'],
  ];
  test.for(broken)('%s', async ([, text]) => {
    const pieces = text.match(/[^]{1,7}/gu) ?? [];
    const call = toolCall('1', 'WritePlanTool_begin', text, 'malformed');
    const { root, seen, texts } = await prepare([
      { type: 'tool-call-start', index: 0, id: '1', name: call.name },
      ...pieces.map(
        (argumentsDelta) => ({ type: 'tool-call-delta', index: 0, argumentsDelta }) as const,
      ),
      { type: 'tool-call-end', index: 0, call },
      { type: 'finish', reason: 'tool_calls' },
    ]);
    const kept = seen.flatMap((event) =>
      event.type === 'tool-call-end' ? (event.call.kept ?? []) : [],
    );
    expect(kept).toEqual([
      {
        name: 'arguments',
        raw: true,
        path: expect.stringMatching(/\.txt$/),
        bytes: Buffer.byteLength(text),
        lines: text.split('\n').length,
      },
    ]);
    expect(await readFile(join(root, kept[0]?.path ?? ''), 'utf8')).toBe(text);
    expect(await texts()).toHaveLength(1);
  });

  test('also when the message breaks off', async () => {
    const error = { code: 'STREAM_BROKEN', message: 'It broke.', retryable: true } as const;
    const { root, kept, seen, texts } = await prepare([
      { type: 'tool-call-start', index: 0, id: '1', name: 'write' },
      { type: 'tool-call-delta', index: 0, argumentsDelta: '{"content": "a = "b"' },
      { type: 'error', error },
    ]);
    const [name] = await texts();
    expect(seen.at(-1)).toEqual({ type: 'error', error });
    const path = `.orion/texts/${name}`;
    const text = { call: 'write', name: 'arguments', raw: true, path, lines: 1, bytes: 20 };
    expect(await kept.takeUntold()).toEqual([text]);
    expect(await kept.takeUntold()).toEqual([]);
    expect(await readFile(join(root, '.orion/texts', name ?? ''), 'utf8')).toBe(
      '{"content": "a = "b"',
    );
  });
});

test('R258: a call that succeeds takes nothing from another one of the same id', async () => {
  const root = await temporaryDirectory();
  await writeFile(join(root, 'a.txt'), 'a\n');
  const adapter = createFakeAdapter([
    callsReply([
      toolCall('x', 'read_file', { path: 'a.txt' }),
      toolCall('x', 'write_to_file', { path: 'b.txt', content: `${LONG}lost?` }),
    ]),
    textReply('Sorry.'),
  ]);
  const orion = await openOrion({ workspace: root, adapter });
  const events = await collect(orion.runTurn({ content: 'write' }));
  expect(events.flatMap((event) => (event.type === 'tool_result' ? [event.ok] : []))).toEqual([
    true,
    false,
  ]);
  const answers = adapter.requests[1]?.messages.filter(({ role }) => role === 'tool') ?? [];
  const [, place] = /kept in (\S+\.txt)\./.exec(answers[1]?.content ?? '') ?? [];
  expect(
    new Set(answers.map((message) => message.role === 'tool' && message.toolCallId)).size,
  ).toBe(2);
  expect(await readFile(join(root, place ?? ''), 'utf8')).toBe(`${LONG}lost?`);
});

const WRITE = toolCall('w', 'write_to_file', { path: 'b.txt', content: LONG });
const BROKEN: LlmEvent = {
  type: 'error',
  error: { code: 'STREAM_BROKEN', message: 'It broke.', retryable: true },
};
/** A call that does not end, and what follows it. */
const unended = (...rest: readonly LlmEvent[]): LlmEvent[] => [
  { type: 'tool-call-start', index: 0, id: 'w', name: WRITE.name },
  { type: 'tool-call-delta', index: 0, argumentsDelta: WRITE.arguments.slice(0, -2) },
  ...rest,
];

/** One turn; `stop` ends it when the first call has arrived. */
async function turnOf(
  replies: (stop: () => void) => readonly FakeReply[],
  options: Partial<OrionOptions> = {},
  structuredOutput = false,
) {
  const root = await temporaryDirectory();
  await writeFile(join(root, 'a.txt'), 'a\n');
  const stop = new AbortController();
  const adapter = createFakeAdapter(
    replies(() => stop.abort()),
    { structuredOutput },
  );
  const orion = await openOrion({ workspace: root, adapter, ...options });
  const events = await collect(
    orion.runTurn({ content: 'write', conversationId: 'c', signal: stop.signal }),
  );
  const texts = (): Promise<string[]> => readdir(join(root, '.orion', 'texts')).catch(() => []);
  return { root, orion, adapter, events, told: toldIn(events), texts };
}

/** The places that notices name, in their order. */
function toldIn(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'chunk' && event.source === 'notice' ? placesIn(event.content) : [],
  );
}

function placesIn(text: string): readonly string[] {
  return [...text.matchAll(/kept in (\S+\.txt)\./g)].map(([, place = '']) => place);
}

describe('R258: a person reads once where the text of a call is that came to nothing', () => {
  type Case = Parameters<typeof turnOf>;
  const read = toolCall('r', 'read_file', { path: 'a.txt' });
  const cases: Readonly<Record<string, readonly [...Case]>> = {
    'cut at a limit of the turn': [
      () => [unended({ type: 'text-delta', text: 'x' }), textReply('Sorry.')],
      { settings: { stopTokens: 100 } },
    ],
    'whose turn is cancelled while it arrives': [
      (stop) => [
        async function* cancelled() {
          yield* unended();
          stop();
          yield BROKEN;
        },
      ],
    ],
    'whose message breaks off within it': [() => [unended(BROKEN)]],
    'whose message breaks off behind it': [() => [[...callsReply([WRITE]).slice(0, -1), BROKEN]]],
    'that is one too many in its message': [
      () => [callsReply([read, WRITE]), textReply('Sorry.')],
      { protocol: 'two-stage' },
    ],
    'in the last answer, which has no tools': [
      () => [callsReply([read]), callsReply([WRITE])],
      { settings: { maxIterations: 1 } },
    ],
  };
  test.for(Object.entries(cases))('%s', async ([, turn]) => {
    const { root, told, texts } = await turnOf(...turn);
    const names = await texts();
    expect(told).toEqual(names.map((name) => `.orion/texts/${name}`));
    expect(await readFile(join(root, told[0] ?? ''), 'utf8')).toContain(LONG.slice(0, -1));
  });
});

describe('R258: a model that answers the request for the content of a file with calls', () => {
  const settings = { idleMs: 1, maxIdlePrompts: 1 };

  test('until the write is given up: the person and the model read where its texts are', async () => {
    const { adapter, told, texts } = await turnOf(
      () => [
        callsReply([beginCall('b', 'c.txt')]),
        callsReply([WRITE]),
        callsReply([WRITE]),
        textReply('Sorry.'),
      ],
      { settings },
    );
    expect(await texts()).toHaveLength(2);
    expect(told.toSorted()).toEqual(
      (await texts()).toSorted().map((name) => `.orion/texts/${name}`),
    );
    const answer = adapter.requests.at(-1)?.messages.find(({ role }) => role === 'tool');
    expect(answer?.content).toContain('EMPTY_CONTENT');
    expect(placesIn(answer?.content ?? '')).toEqual(told);
  });

  test('when the session is recovered', async () => {
    const { orion, events, texts } = await turnOf(
      () => [
        callsReply([beginCall('b', 'c.txt')]),
        [
          { type: 'text-delta', text: 'one\n' },
          { type: 'finish', reason: 'stop' },
        ],
        callsReply([WRITE]),
        textReply('DONE'),
      ],
      { settings: { idleMs: 0 } },
    );
    const [sessionId = ''] = events.flatMap((event) =>
      event.type === 'write_session' ? [event.sessionId] : [],
    );
    expect(await texts()).toEqual([]);
    const told = toldIn(await collect(orion.recoverSession({ sessionId })));
    expect(told).toEqual((await texts()).map((name) => `.orion/texts/${name}`));
    expect(told).toHaveLength(1);
  });
});

describe('R258: a file in the JSON action of a model', () => {
  const action = (args: unknown): string =>
    JSON.stringify({ action: 'next_step', thinking: { task: 't' }, tool: 'write_to_file', args });
  const WHOLE = action({ path: 'b.txt', content: LONG });
  const CUT = WHOLE.slice(0, -4);
  const answered = textReply(JSON.stringify({ action: 'complete', content: 'Sorry.' }));
  const turn = (
    replies: (stop: () => void) => readonly FakeReply[],
    options: Partial<OrionOptions> = {},
  ) => turnOf(replies, { protocol: 'controller', ...options }, true);
  const unfinished = (text: string): LlmEvent => ({ type: 'text-delta', text });

  const cutAtOutputLimit = (): readonly FakeReply[] => [
    [unfinished(CUT), { type: 'finish', reason: 'length' }],
    answered,
  ];

  const cases: Readonly<Record<string, Parameters<typeof turn>>> = {
    'that is cut at the output limit': [cutAtOutputLimit],
    'whose stream breaks off': [() => [[unfinished(CUT), BROKEN]]],
    'that is cut at a limit of the turn': [
      () => [[unfinished(CUT), unfinished('ü')], answered],
      { settings: { stopTokens: 100 } },
    ],
    'that a quote makes invalid': [() => [textReply(WHOLE.replace('\\n', '"')), answered]],
    'behind prose': [() => [textReply(`Here it is:\n\`\`\`json\n${WHOLE}\n\`\`\``), answered]],
    'whose arguments are JSON in a string': [
      () => [[unfinished(action(JSON.stringify({ content: LONG })).slice(0, -4)), BROKEN]],
    ],
  };
  test.for(Object.entries(cases))('%s: the person reads where it is', async ([, given]) => {
    const { root, told, texts } = await turn(...given);
    expect(told).toEqual((await texts()).map((name) => `.orion/texts/${name}`));
    expect(told).toHaveLength(1);
    expect(await readFile(join(root, told[0] ?? ''), 'utf8')).toMatch(/(ü(\n|\\n|")){399}/u);
  });

  test('that is unusable: the model reads where its text is, too', async () => {
    const { adapter, told } = await turn(cutAtOutputLimit);
    expect(told).toHaveLength(1);
    expect(placesIn(adapter.requests[1]?.messages.at(-1)?.content ?? '')).toEqual(told);
  });

  test('for a tool that does not exist: the result says where its text is, and no notice does', async () => {
    const { adapter, told, texts } = await turn(() => [
      textReply(`\`\`\`json\n${WHOLE}\n\`\`\``),
      answered,
    ]);
    const places = placesIn(adapter.requests[1]?.messages.at(-1)?.content ?? '');
    expect(places).toEqual((await texts()).map((name) => `.orion/texts/${name}`));
    expect(places).toHaveLength(1);
    expect(told).toEqual([]);
  });

  test('whose call succeeds, or that is the answer itself: nothing is left', async () => {
    const { events, told, texts } = await turn(
      () => [textReply(WHOLE.replace('write_to_file', 'note')), answered],
      { tools: [tool('note', 'read')] },
    );
    expect(events.filter(({ type }) => type === 'tool_result')).toMatchObject([{ ok: true }]);
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
    expect(await texts()).toEqual([]);
    expect(told).toEqual([]);
  });

  const besides: Readonly<Record<string, object>> = {
    'a message': { action: 'complete', message: 'Here it is.', content: LONG },
    'a message, in arguments': { action: 'complete', message: 'Here.', args: { content: LONG } },
    'a step that says something': {
      action: 'next_step',
      thinking: {},
      type: 'respond',
      message: 'Here it is.',
      file_text: LONG,
    },
    'a question': { action: 'ask_user', question: 'Is this right?', content: LONG },
  };
  test.for(Object.entries(besides))('beside %s: both read where it is', async ([, said]) => {
    const { root, orion, adapter, told, texts } = await turn(() => [
      textReply(JSON.stringify(said)),
      answered,
    ]);
    expect(told).toEqual((await texts()).map((name) => `.orion/texts/${name}`));
    expect(told).toHaveLength(1);
    expect(await readFile(join(root, told[0] ?? ''), 'utf8')).toBe(LONG);
    await collect(orion.runTurn({ content: 'write it', conversationId: 'c' }));
    const sent = adapter.requests[1]?.messages.map(({ content }) => content) ?? [];
    expect(placesIn(sent.join('\n'))).toEqual(told);
  });

  test('beside the arguments of a call that succeeds: both read where it is', async () => {
    const step = JSON.parse(WHOLE.replace('write_to_file', 'note')) as object;
    const { root, adapter, told, texts } = await turn(
      () => [textReply(JSON.stringify({ ...step, content: `${LONG}beside` })), answered],
      { tools: [tool('note', 'read')] },
    );
    expect(told).toEqual((await texts()).map((name) => `.orion/texts/${name}`));
    expect(told).toHaveLength(1);
    expect(await readFile(join(root, told[0] ?? ''), 'utf8')).toBe(`${LONG}beside`);
    const sent = adapter.requests[1]?.messages.map(({ content }) => content) ?? [];
    expect(placesIn(sent.join('\n'))).toEqual(told);
  });
});
