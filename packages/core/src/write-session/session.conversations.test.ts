/**
 * Whole conversations, with all that the session does in them, in order. Other tests say what matters of it; this one
 * notices any other change. `vitest run packages/core/src/write-session/session.conversations.test.ts -u` writes the
 * files anew.
 */
import { expect, test } from 'vitest';

import { receiptNotesOf } from './session.ts';
import type { MessageEnd } from './control.ts';
import type { SessionInput } from './session.ts';
import { SessionHarness, invalidPlace } from './testing/session-harness.ts';
import type { HarnessOptions } from './testing/session-harness.ts';

const LENGTH = { kind: 'length' } as const;
const BROKEN = {
  kind: 'error',
  code: 'STREAM_BROKEN',
  message: 'The connection was lost.',
  retryable: true,
} as const;
const REFUSED = {
  kind: 'error',
  code: 'PROVIDER_AUTH',
  message: 'The key is wrong.',
  retryable: false,
} as const;

/** A message that ends in order, one with its end, an input of another kind, or time that passes. */
type Turn =
  | string
  | readonly [text: string, end: MessageEnd]
  | SessionInput
  | { readonly wait: number };

type Conversation = readonly [turns: readonly Turn[], options?: HarnessOptions];

const IDLE = { wait: 2_000 };
/** Lines that are each there once. */
const lines = (from: number, to: number): string => {
  let text = '';
  for (let line = from; line <= to; line += 1) text += `const value${line} = compute(${line});\n`;
  return text;
};
const said = (from: number, to: number): string => lines(from, to).replaceAll('const ', 'Say ');
const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
const LEAD = 'Sure, here is the file:\n\n';
const OTHER =
  'a remark that is long enough\nand has a second line of words\nand a third\nand more\n';
const CODE: HarnessOptions = { target: 'a.ts' };
const MARKDOWN: HarnessOptions = { target: 'a.md' };

const CONVERSATIONS: Readonly<Record<string, Conversation>> = {
  'a message and its end': [['one\ntwo\nDONE', { type: 'finalize_ok' }]],
  'an end marker with words behind it': [['one\nDONE 7f3a\nThat was it.\nBye.\nDONE\n']],
  'an open last line': [['one\ntwo\nDONE'], { finalNewline: false }],
  'blank lines first': [['\n \n\n  one\nDONE\n\nDONE\n']],
  'nothing at all': [['', IDLE, '\n', IDLE, 'DONE', IDLE, 'DONE']],
  'nothing for a file that exists': [['DONE', IDLE, '', IDLE, 'DONE'], { operation: 'overwrite' }],
  'a model that falls silent': [['one\ntwo\n', IDLE, '', IDLE, 'I think so.', IDLE, '', IDLE, '']],
  'a model that goes on when asked': [['one\ntwo\n', IDLE, 'one\ntwo\nthree\n', IDLE, 'DONE']],
  'a remark in place of an answer': [
    ['one\ntwo\n', IDLE, 'Yes, that is all of it.', IDLE, 'No.', IDLE, 'DONE'],
  ],
  'a line that is done': [['for x in y; do\n', IDLE, 'done', IDLE, 'KEEP', IDLE, 'DONE']],
  'cut by its length': [
    [
      [lines(1, 30), LENGTH],
      [`${lines(28, 30)}${lines(31, 60)}`, LENGTH],
      `${lines(58, 60)}${lines(61, 62)}DONE`,
    ],
    CODE,
  ],
  'cut within a line': [
    [[`${lines(1, 6)}const val`, LENGTH], `${lines(5, 6)}${lines(7, 9)}DONE`],
    CODE,
  ],
  'cut within the first line': [[['const val', LENGTH], `${lines(1, 3)}DONE`], CODE],
  'cut within a very long line': [
    [
      [`list ${'abc def '.repeat(60)}`, LENGTH],
      `${'abc def '.repeat(16)}ghi\nDONE`,
      `list ${'abc def '.repeat(60)}ghi\nDONE`,
    ],
  ],
  'cut, and the file ends there': [[[lines(1, 5), LENGTH], 'DONE'], CODE],
  'cut within a line, and the file ends there': [
    [[`${lines(1, 5)}const x = 1`, LENGTH], 'DONE', 'DONE'],
    CODE,
  ],
  'cut, with other line endings behind': [
    [[crlf(lines(1, 5)), LENGTH], `${lines(3, 5)}${lines(6, 7)}DONE`],
    CODE,
  ],
  'cut, with a lead and a fence behind': [
    [
      [lines(1, 5), LENGTH],
      `Here is the rest:\n\n\`\`\`ts\n${lines(3, 5)}${lines(6, 7)}\`\`\`\nDONE`,
    ],
    CODE,
  ],
  'cut, with a fence behind that may be of either': [
    [
      [`# Notes\n\n${said(1, 6)}`, LENGTH],
      `\`\`\`markdown\n${said(4, 8)}\`\`\`sh\n${said(9, 9)}\`\`\`\nDONE\n`,
      'KEEP',
    ],
    MARKDOWN,
  ],
  'cut, and begun anew': [[[lines(1, 40), LENGTH], `${lines(1, 50)}DONE`], CODE],
  'cut, and never joined': [
    [[lines(1, 5), LENGTH], 'no\n', 'nor this\n', 'nor that\n', 'nor anything\n'],
    CODE,
  ],
  'cut, and bridged': [
    [
      [lines(1, 20), LENGTH],
      `${lines(25, 40)}DONE`,
      `${lines(25, 40)}DONE`,
      `${lines(25, 40)}DONE`,
      `${lines(18, 20)}${lines(21, 30)}DONE`,
    ],
    CODE,
  ],
  'cut, and bridged to a part that was cut too': [
    [
      [lines(1, 20), LENGTH],
      `${lines(25, 40)}`,
      `${lines(25, 40)}`,
      [`${lines(25, 40)}`, LENGTH],
      `${lines(18, 20)}${lines(21, 30)}`,
      `${lines(38, 40)}${lines(41, 42)}DONE`,
    ],
    CODE,
  ],
  'cut, and a bridge that leads nowhere': [
    [
      [lines(1, 20), LENGTH],
      `${lines(25, 40)}DONE`,
      `${lines(25, 40)}DONE`,
      `${lines(25, 40)}DONE`,
      'I do not know.\n',
    ],
    CODE,
  ],
  'cut, and accepted as it comes': [
    [[lines(1, 5), LENGTH], `${OTHER}DONE`],
    { ...CODE, settings: { seam: 'accept' } },
  ],
  'cut, and never accepted': [
    [lines(1, 5), IDLE, `${OTHER}DONE`],
    { ...CODE, settings: { seam: 'strict' } },
  ],
  'not cut, and accepted': [[lines(1, 5), IDLE, `${OTHER}DONE`], CODE],
  'cut in every message without progress': [
    [
      [lines(1, 5), LENGTH],
      [lines(3, 5), LENGTH],
      [lines(3, 5), LENGTH],
      [lines(3, 5), LENGTH],
    ],
    CODE,
  ],
  'a connection that breaks': [
    [[lines(1, 5), BROKEN], [lines(4, 5), BROKEN], `${lines(3, 5)}${lines(6, 7)}DONE`],
    CODE,
  ],
  'a connection that breaks before the first word': [[['', BROKEN], ['', BROKEN], 'one\nDONE']],
  'a connection that never works': [
    [
      ['', BROKEN],
      ['', BROKEN],
      ['', BROKEN],
      ['', BROKEN],
    ],
  ],
  'a connection that breaks behind a marker': [
    [['one\ntwo\nDONE\n', BROKEN], IDLE, 'one\ntwo\nDONE'],
  ],
  'a connection that breaks in an answer': [
    ['one\nDONE\nI hope so!\n', IDLE, ['END', BROKEN], 'END 2'],
  ],
  'a key that is wrong': [[['one\n', REFUSED], { type: 'recover' }, 'one\nDONE']],
  'two markers within': [['one\nDONE\ntwo\nDONE\nthree\n', IDLE, 'END 4', { type: 'finalize_ok' }]],
  'a marker within that is content': [['one\nDONE\ntwo\n', IDLE, 'DONE']],
  'a marker within and a near miss': [['one\nDONE\ntwo\n**DONE**', IDLE, 'DONE', IDLE, 'DONE']],
  'a marker within and text that goes on': [
    ['one one one\nDONE\ntwo two two\n', IDLE, 'DONE\ntwo two two\nthree\nDONE'],
  ],
  'answers that are none': [['one\nDONE\ntwo\n', IDLE, 'END 1', IDLE, 'KEEP', IDLE, 'What?', IDLE]],
  'a near miss that goes': [['one\ntwo\nDONE.\n', IDLE, 'DONE']],
  'a near miss that stays': [['one\ntwo\nDONE.\n', IDLE, 'KEEP', IDLE, 'DONE']],
  'a near miss and text that goes on': [
    ['one one one\ntwo two two\nDone!\n', IDLE, 'two two two\nDone!\nthree\nDONE'],
  ],
  'a closing remark': [['one\n\nI hope this helps!', IDLE, 'DONE']],
  'a marker joined to text': [['one\ntwo DONE', IDLE, 'DONE']],
  'a lead that goes': [[`${LEAD}one\ntwo\nDONE`, IDLE, 'DROP']],
  'a lead that stays': [[`${LEAD}one\ntwo\nDONE`, IDLE, 'KEEP']],
  'a lead, and answers that are none': [
    [
      `${LEAD}one\ntwo\nDONE`,
      IDLE,
      'Yes.',
      ['What do', BROKEN],
      ['Of course', LENGTH],
      'Sure, here is the file:\n\none\nthree\nDONE',
      IDLE,
      'DROP',
    ],
  ],
  'a fence, and answers that are none': [
    ['```ts\nconst x = 1;\nDONE', IDLE, 'DONE', IDLE, '```ts\nconst x = 2;\n```\nDONE'],
    CODE,
  ],
  'a lead and a fence': [[`${LEAD}\`\`\`\n# x\n\`\`\`\nDONE`, IDLE, 'STRIP'], MARKDOWN],
  'a lead and a fence that stay': [
    [`${LEAD}\`\`\`\n# x\n\`\`\`\nDONE`, IDLE, 'KEEP', IDLE, 'KEEP'],
    MARKDOWN,
  ],
  'a fence around code': [['```ts\nconst x = 1;\n```\nDONE'], CODE],
  'a fence around code and the marker': [['```ts\nconst x = 1;\nDONE\n```\n'], CODE],
  'a fence that never closes': [['```ts\nconst x = 1;\nDONE', IDLE, 'STRIP'], CODE],
  'a fence that is left alone': [
    ['```ts\nconst x = 1;\n```\nDONE'],
    { ...CODE, settings: { stripFence: 'never' } },
  ],
  'the document again': [
    ['one one one\ntwo two two\nDONE\nthree\n', IDLE, 'one one one\ntwo two two\nfour\nDONE'],
  ],
  'the document again, and again': [
    [
      'one one one\ntwo two two\n',
      IDLE,
      'Sorry, once more:\n\none one one\n2\nthree\n',
      IDLE,
      'one one one\ntwo two two\nfour\n',
      IDLE,
      'one one one\ntwo two two\nfive\n',
      IDLE,
      'DONE',
    ],
  ],
  'the document again behind ends that were not asked about': [
    [
      [`one one one\nDONE\nHere is the second part:\n${lines(1, 3)}`, LENGTH],
      `${lines(1, 3)}${lines(4, 5)}`,
      IDLE,
      'one one one\nDONE\ntwo two two\nDONE',
      IDLE,
      'DONE',
    ],
  ],
  'a think block': [
    [
      { type: 'message_started', thinkTags: true },
      { type: 'text', text: '<think>\nWhat is it?\n</th' },
      { type: 'text', text: 'ink>\n\none\nDONE' },
      { type: 'message_ended', end: { kind: 'stop' } },
    ],
  ],
  'a think block that never closes': [
    [
      { type: 'message_started', thinkTags: true },
      { type: 'text', text: '<think>\nWhat is it?\none\nDONE' },
      { type: 'message_ended', end: { kind: 'stop' } },
      IDLE,
      'one\nDONE',
    ],
  ],
  'reasoning in a field of its own': [
    [
      { type: 'message_started', thinkTags: true },
      { type: 'reasoning' },
      { type: 'text', text: '<think>\na tag\n</think>\nDONE' },
      { type: 'message_ended', end: { kind: 'stop' } },
    ],
  ],
  'words put into its mouth': [
    [
      [lines(1, 6), LENGTH],
      { type: 'message_started', prefilled: true },
      { type: 'text', text: lines(4, 6) },
      { type: 'text', text: `${lines(7, 8)}DONE` },
      { type: 'message_ended', end: { kind: 'stop' } },
    ],
    CODE,
  ],
  'corrections that help': [
    [
      'a\0b\0c\nDONE',
      { type: 'corrections_needed', places: [invalidPlace(1, 1), invalidPlace(2, 3)], count: 2 },
      '#2: x',
      { type: 'corrections_needed', places: [invalidPlace(1, 1)], count: 1 },
      '#1: y\nDONE',
      { type: 'finalize_ok' },
    ],
  ],
  'corrections that do not come': [
    [
      'a\0b\nDONE',
      { type: 'corrections_needed', places: [invalidPlace(1, 1)], count: 1 },
      'sorry',
      ['#1: x', LENGTH],
      ['', BROKEN],
      { type: 'finalize_ok' },
    ],
  ],
  'left-out text': [
    [
      'one\n# ...\ntwo\nDONE',
      { type: 'omissions_suspected', omissions: [{ line: 2, text: '# ...' }] },
      'KEEP',
      { type: 'finalize_ok' },
    ],
    { operation: 'overwrite' },
  ],
  'left-out text at many places': [
    [
      `${'# ...\n'.repeat(7)}DONE`,
      {
        type: 'omissions_suspected',
        omissions: [1, 2, 3, 4, 5, 6, 7].map((line) => ({ line, text: `# ... ${line}` })),
      },
      'no answer',
      IDLE,
      'DONE',
    ],
    { operation: 'overwrite' },
  ],
  'left-out text that is written after all': [
    [
      'one\n# ...\ntwo\nDONE',
      { type: 'omissions_suspected', omissions: [{ line: 2, text: '# ...' }] },
      'one\nand a half\ntwo\nDONE',
    ],
    { operation: 'overwrite' },
  ],
  'a commit that has to wait': [
    [
      'one\nDONE',
      { type: 'finalize_failed', code: 'RESOURCE_BUSY', message: 'Busy.', retryable: true },
      { wait: 500 },
      { type: 'finalize_failed', code: 'RESOURCE_BUSY', message: 'Busy.', retryable: true },
      { wait: 60_000 },
      { type: 'finalize_ok' },
    ],
  ],
  'a commit that is refused': [
    [
      'one\nDONE',
      { type: 'finalize_failed', code: 'TARGET_CHANGED', message: 'Changed.', retryable: false },
      { type: 'finalize_command', answer: null },
      { type: 'finalize_ok' },
    ],
  ],
  'saves while it arrives': [
    [
      { type: 'message_started' },
      { type: 'text', text: lines(1, 49) },
      { type: 'text', text: lines(50, 50) },
      { type: 'text', text: 'one' },
      { wait: 4_999 },
      { wait: 1 },
      { type: 'text', text: ' two' },
      { type: 'save_failed' },
      { type: 'text', text: lines(51, 101) },
      { wait: 30_000 },
      { type: 'message_ended', end: { kind: 'stop' } },
    ],
    CODE,
  ],
  'more than it may have': [
    ['0123456789\n', IDLE, '0123456789\nab\n'],
    { settings: { maxBytes: 12 } },
  ],
  'more than it may have at once': [['0123456789\nDONE\nabcdef\n'], { settings: { maxBytes: 12 } }],
  'a tool that is called': [['one\n', { type: 'tool_called' }, IDLE, 'DONE']],
  'called off and taken up': [
    [
      { type: 'message_started' },
      { type: 'text', text: `${lines(1, 4)}const val` },
      { type: 'cancelled' },
      { type: 'recover' },
      `${lines(3, 4)}${lines(5, 6)}DONE`,
    ],
    CODE,
  ],
  'called off with a question open': [
    [
      'one\nDONE\ntwo\n',
      IDLE,
      { type: 'cancelled' },
      { type: 'recover' },
      'END 2',
      { type: 'finalize_ok' },
    ],
  ],
  'called off and written by hand': [
    ['one\nDONE\ntwo\n', { type: 'graceful_stop' }, { type: 'finalize_command', answer: null }],
  ],
  'discarded while it is written': [['one\n', { type: 'abort', writing: false }]],
  'a model that is too slow': [['one\n', { type: 'inactive' }]],
  'taken by another process': [['one\n', { type: 'lease_lost', writing: false }]],
  'strict mode': [
    ['one\nDONE\n', IDLE, 'DONE', IDLE, 'one\nDONE\ntwo\nDONE 7f3a'],
    { settings: { strict: true } },
  ],
  'strict mode, cut': [
    [[lines(1, 5), LENGTH], 'DONE', `${lines(3, 5)}${lines(6, 6)}DONE 7f3a`],
    { ...CODE, settings: { strict: true } },
  ],
  'the first marker ends it': [
    ['one\nDONE\nI hope so.\n', { wait: 250 }],
    { settings: { doneMode: 'first' } },
  ],
  'no end of messages': [
    [
      { type: 'message_started' },
      { type: 'text', text: 'one\nDONE\n' },
      { wait: 200 },
      { type: 'text', text: 'two\nDONE\n' },
      { wait: 250 },
      { type: 'message_ended', end: { kind: 'stop' } },
    ],
    { settings: { signalsMessageEnd: false } },
  ],
  'recovered, and gone on with': [
    [`${lines(3, 5)}${lines(6, 8)}DONE`],
    { ...CODE, recovered: { content: lines(1, 5), record: null } },
  ],
  'recovered, and not joined': [
    [`${OTHER}DONE`],
    { ...CODE, recovered: { content: lines(1, 5), record: null } },
  ],
  'recovered, and complete': [
    ['DONE'],
    { ...CODE, recovered: { content: `${lines(1, 2)}DONE\n${lines(3, 5)}`, record: null } },
  ],
  'recovered in the middle of a line': [
    ['DONE', 'DONE'],
    { ...CODE, recovered: { content: `${lines(1, 5)}const x = 1`, record: null } },
  ],
  'recovered with nothing': [['one\nDONE'], { recovered: { content: '', record: null } }],
};

function json(value: unknown): string {
  return (
    JSON.stringify(value)
      // Lines of the same kind in a row are told by the first and the last of them.
      .replaceAll(
        /(const value\d+ = compute\(\d+\);\\n)(?:const value\d+ = compute\(\d+\);\\n){2,}/gu,
        '$1…',
      )
  );
}

async function play(
  [turns, options]: Conversation,
  observe: NonNullable<HarnessOptions['observe']>,
): Promise<SessionHarness> {
  const harness = new SessionHarness({ ...options, observe });
  for (const turn of turns) {
    if (typeof turn === 'string') harness.message(turn);
    else if ('wait' in turn) await harness.wait(turn.wait);
    else if ('type' in turn) harness.send(turn);
    else harness.message(...turn);
  }
  return harness;
}

test.for(Object.keys(CONVERSATIONS))('%s', async (name) => {
  const log: string[] = [];
  let replayed = '';
  const harness = await play(CONVERSATIONS[name] ?? [[]], (input, effects) => {
    // Held text comes a character at a time: what it appends is told together.
    const appended = effects.map((effect) => (effect.type === 'append' ? effect.text : null));
    if (input.type === 'held_text' && !appended.includes(null)) {
      replayed += appended.join('');
      return;
    }
    if (replayed !== '') log.push(`  append of what was held ${json(replayed)}`);
    replayed = '';
    if (input.type !== 'examined') log.push(`> ${json(input)}`);
    for (const { type, ...rest } of effects) log.push(`  ${type} ${json(rest)}`);
  });
  const { state, content, file, aside, chat, held, ended, stopped } = harness;
  const left = { state, content, file, aside, chat, held, ended, stopped };
  await expect(
    [
      ...log,
      ...Object.entries(left).map(([key, value]) => `${key}: ${json(value)}`),
      `record: ${json(harness.record)}`,
      `receipt: ${json(receiptNotesOf(harness.session))}`,
      '',
    ].join('\n'),
  ).toMatchFileSnapshot(
    `__snapshots__/conversations/${name.replaceAll(' ', '-').replaceAll(',', '')}.txt`,
  );
});
