/**
 * Every input in every state, with all that comes of it: effects, state and record. Other tests say what matters of it;
 * this one notices any other change. `vitest run packages/core/src/write-session/session.inputs.test.ts -u` writes the
 * files anew.
 */
import { expect, test } from 'vitest';

import { advance, recordOf, restoreSession } from './advance.ts';
import { stateNameOf } from './control.ts';
import type { SessionEffect, SessionInput, WriteSession } from './session.ts';
import { DEFAULTS, SessionHarness } from './testing/session-harness.ts';
import type { HarnessOptions } from './testing/session-harness.ts';
import { appendToSummary, createSummary } from './text/content-summary.ts';
import { createDoneScan, endDoneScan, scanForDone } from './text/markers/done-scan.ts';

type Prepare = (harness: SessionHarness) => Promise<void> | void;

const LENGTH = { kind: 'length' } as const;
const ERROR = {
  kind: 'error',
  code: 'PROVIDER_ERROR',
  message: 'gone',
  retryable: true,
} as const;
const LINES = 'line one\nline two\nline three\nline four\n';

/** How each state is come to. */
const STATES: Readonly<Record<string, readonly [Prepare, HarnessOptions?]>> = {
  begun: [() => undefined],
  'no word yet': [(harness) => harness.send({ type: 'message_started' })],
  'an empty message': [(harness) => harness.message('')],
  'in the text': [
    (harness) => {
      harness.send({ type: 'message_started' });
      harness.send({ type: 'text', text: 'one\ntwo' });
    },
  ],
  'a marker that may be the end': [
    (harness) => {
      harness.send({ type: 'message_started' });
      harness.send({ type: 'text', text: 'one\nDONE\n' });
    },
  ],
  'behind a marker': [
    (harness) => {
      harness.send({ type: 'message_started' });
      harness.send({ type: 'text', text: 'one\nDONE\ntwo\n' });
    },
  ],
  'between messages': [(harness) => harness.message('one\ntwo\n')],
  'asked once': [
    async (harness) => {
      harness.message('one\ntwo\n');
      await harness.wait(2_000);
    },
  ],
  'asked where it ends': [(harness) => harness.message('one\nDONE\ntwo\nDONE\nthree\n')],
  'asked about a near miss': [(harness) => harness.message('one\ntwo\nDONE.\n')],
  'asked about a fence': [
    (harness) => harness.message('```python\nx = 1\n```\nDONE\n'),
    { target: 'a.md' },
  ],
  'asked about a lead': [
    (harness) => harness.message('Here is the file:\n\none\ntwo\nDONE\n'),
    { target: 'a.txt' },
  ],
  'asked about omissions': [
    (harness) => {
      harness.message('a\n# ...\nDONE\n');
      harness.send({
        type: 'omissions_suspected',
        omissions: [{ line: 2, text: '# ...' }],
      });
    },
    { operation: 'overwrite' },
  ],
  'asked to go on': [(harness) => harness.message(LINES, LENGTH)],
  'a reply has begun': [
    (harness) => {
      harness.message(LINES, LENGTH);
      harness.send({ type: 'message_started' });
      harness.send({ type: 'text', text: 'line one\nline' });
    },
  ],
  'a reply that did not join': [
    (harness) => {
      harness.message(LINES, LENGTH);
      harness.message('something else\nDONE\n');
    },
  ],
  'two replies that did not join': [
    (harness) => {
      harness.message(LINES, LENGTH);
      harness.message('something else\nDONE\n');
      harness.message('something else\nDONE\n');
    },
  ],
  'the connection broke': [(harness) => harness.message(LINES, ERROR)],
  finalizing: [(harness) => harness.message('one\nDONE\n')],
  'asked for corrections': [
    (harness) => {
      harness.message('one \ud800\nDONE\n');
      harness.send({ type: 'corrections_needed', places: [], count: 1 });
    },
  ],
  paused: [
    (harness) => {
      harness.message('one\ntwo\n');
      harness.send({ type: 'cancelled' });
    },
  ],
  done: [
    (harness) => {
      harness.message('one\nDONE\n');
      harness.send({ type: 'finalize_ok' });
    },
  ],
  'in strict mode': [
    (harness) => harness.message('one\nDONE\ntwo\n'),
    { settings: { strict: true } },
  ],
  'where the first marker ends it': [
    (harness) => harness.message('one\nDONE\n'),
    { settings: { doneMode: 'first', signalsMessageEnd: false } },
  ],
};

const INPUTS: readonly SessionInput[] = [
  { type: 'message_started' },
  { type: 'message_started', prefilled: true, thinkTags: true },
  { type: 'reasoning' },
  { type: 'text', text: 'more\n' },
  { type: 'text', text: 'DONE\n' },
  { type: 'text', text: LINES },
  { type: 'message_ended', end: { kind: 'stop' } },
  { type: 'message_ended', end: LENGTH },
  { type: 'message_ended', end: ERROR },
  { type: 'message_ended', end: { ...ERROR, code: 'PROVIDER_AUTH', retryable: false } },
  { type: 'held_end' },
  { type: 'timer', timer: 'idle' },
  { type: 'timer', timer: 'settle' },
  { type: 'timer', timer: 'save' },
  { type: 'timer', timer: 'save_retry' },
  { type: 'timer', timer: 'finalize_retry' },
  { type: 'save_failed' },
  { type: 'finalize_ok' },
  { type: 'finalize_failed', code: 'RESOURCE_BUSY', message: 'Busy.', retryable: true },
  { type: 'finalize_failed', code: 'TARGET_CHANGED', message: 'Changed.', retryable: false },
  { type: 'omissions_suspected', omissions: [{ line: 1, text: '...' }] },
  { type: 'tool_called' },
  { type: 'cancelled' },
  { type: 'abort', writing: true },
  { type: 'abort', writing: false },
  { type: 'graceful_stop' },
  { type: 'inactive' },
  { type: 'lease_lost', writing: true },
  { type: 'lease_lost', writing: false },
  { type: 'recover' },
  { type: 'finalize_command', answer: null },
  { type: 'finalize_command', answer: { kind: 'end', line: 2 } },
  { type: 'finalize_command', answer: { kind: 'done' } },
  { type: 'finalize_command', answer: { kind: 'keep' } },
  { type: 'finalize_command', answer: { kind: 'strip' } },
];

const lineOf = (value: unknown): string => JSON.stringify(value) ?? '';

function told(session: WriteSession, input: SessionInput): string[] {
  let next: { readonly session: WriteSession; readonly effects: readonly SessionEffect[] };
  try {
    next = advance(session, input);
  } catch (error) {
    return [`THROWS ${String(error)}`];
  }
  const before = recordOf(session) as unknown as Readonly<Record<string, unknown>>;
  const changed = Object.entries(recordOf(next.session)).filter(
    ([name, value]) => lineOf(value) !== lineOf(before[name]),
  );
  return [
    ...next.effects.map((effect) => lineOf(effect)),
    ...(changed.length === 0 ? [] : [`record ${lineOf(Object.fromEntries(changed))}`]),
    ...(next.session.message === session.message ? [] : [`message ${next.session.message}`]),
  ];
}

test.for(Object.keys(STATES))('%s', async (name) => {
  const [prepare, options] = STATES[name] ?? [];
  const harness = new SessionHarness(options);
  await prepare?.(harness);
  const { session } = harness;
  const lines = [
    stateNameOf(session.control),
    lineOf(recordOf(session)),
    ...harness.prompts,
    ...harness.warnings,
  ];
  for (const input of INPUTS) {
    const own = told(session, input);
    lines.push(`${own.length === 0 ? 'NOTHING OF' : 'INPUT'} ${lineOf(input)}`, ...own);
  }
  // What is on disk of it is the same session.
  const restored = restoreSession({
    metadata: session.metadata,
    settings: { ...DEFAULTS, ...options?.settings },
    record: recordOf(session),
    summary: appendToSummary(createSummary(), harness.content),
    innerDone: endDoneScan(scanForDone(createDoneScan(), harness.content)),
  });
  lines.push('RECOVERED', ...told(restored, { type: 'recover' }));
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(
    `__snapshots__/inputs/${name.replaceAll(' ', '-')}.txt`,
  );
});
