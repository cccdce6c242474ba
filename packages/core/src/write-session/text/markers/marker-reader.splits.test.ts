import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FenceLine } from '../lines.ts';
import { dividedText, hazardousTexts, splitAt, unitsOf } from '../testing/splits.ts';
import { readMessage, type MessageResult, type ReadOptions } from '../testing/read-message.ts';

const fences = fc.constantFrom<FenceLine | null>(
  null,
  { character: '`', length: 3, info: 'python' },
  { character: '`', length: 4, info: '' },
  { character: '~', length: 3, info: '' },
);

const settings: fc.Arbitrary<ReadOptions> = fc.record({
  before: fc.constantFrom('', 'a\n', 'open', '```python\n', '```md\nx', 'é\n```js\n'),
  kind: fc.constantFrom('code', 'markdown', 'prose'),
  strict: fc.boolean(),
  doneMode: fc.constantFrom('terminal', 'first'),
  orderly: fc.boolean(),
  wrappingFence: fences,
});

test('R025, M1: every division gives the same content, ending and summary', () => {
  fc.assert(
    fc.property(dividedText(hazardousTexts), settings, ({ text, pieces }, options) => {
      const whole = readMessage([text], options);
      expect(readMessage(pieces, options)).toEqual(whole);
      expect(readMessage(unitsOf(text), options)).toEqual(whole);
    }),
    { numRuns: 1_500 },
  );
});

/** What a result says about the end of the message, behind its content. */
function leftOut(message: string, result: MessageResult): string {
  expect(message.startsWith(result.content)).toBe(true);
  return message.slice(result.content.length);
}

const MARKER_LINE = /^DONE(?: [0-9a-f]{4})?[ \t\r]*$/mu;

function inkIn(text: string): string {
  return text.replaceAll(/[ \t\r\n]/gu, '');
}

test('M3, M4: content is the message up to the marker; only markers, blanks and what is set aside are left out', () => {
  fc.assert(
    fc.property(hazardousTexts, settings, (text, options) => {
      const result = readMessage(unitsOf(text), options);
      const message = text.slice(0, text.length - (result.rest ?? '').length);
      if (!message.startsWith(result.content)) {
        // R033: the closing fence comes after the DONE that is left out.
        expect(result.ending).toMatchObject({ kind: 'terminal', marker: 'done' });
        const fenceStart = result.content.trimEnd().lastIndexOf('\n') + 1;
        const fence = result.content.slice(fenceStart);
        expect(fence).toMatch(/^ {0,3}(?:`{3,}|~{3,})[ \t\r]*\n?$/u);
        const before = result.content.slice(0, fenceStart);
        expect(message.startsWith(before)).toBe(true);
        expect(message.slice(before.length).replace(fence, '')).toMatch(/^[DONEa-f0-9 \t\r\n]+$/u);
        return;
      }
      const rest = leftOut(message, result);
      if (result.ending.setAside !== '') {
        // Closing fences before and after the markers, or, with `first`, all that follows the first of them.
        const markers = options.doneMode === 'first' ? MARKER_LINE : new RegExp(MARKER_LINE, 'gmu');
        expect(inkIn(result.ending.setAside)).toBe(inkIn(rest.replace(markers, '')));
        return;
      }
      const lines = rest.split('\n');
      // With a broken stream the fence that DONE stands in (R033) is left out with that DONE.
      const reason =
        options.orderly === false
          ? /^(?:DONE(?: [0-9a-f]{4})?| {0,3}(?:`{3,}|~{3,}))?[ \t\r]*$/u
          : /^(?:DONE(?: [0-9a-f]{4})?)?[ \t\r]*$/u;
      for (const line of lines) expect(line).toMatch(reason);
      // Nothing is left out without a reason, and blanks alone are none.
      if (rest !== '') expect(rest).toMatch(/^DONE/u);
    }),
    { numRuns: 1_500 },
  );
});

test('M2: content is never taken back, and a stream that breaks keeps it', () => {
  fc.assert(
    fc.property(dividedText(hazardousTexts), settings, ({ text, pieces }, options) => {
      const { content } = readMessage([text], options);
      for (let count = 0; count <= pieces.length; count += 1) {
        const part = pieces.slice(0, count);
        const { released } = readMessage(part, options);
        expect(content.startsWith(released)).toBe(true);
        const broken = readMessage(part, { ...options, orderly: false });
        expect(broken.content.startsWith(released)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

const DOCUMENTS: Readonly<Record<string, string>> = {
  'a shell script that prints DONE': [
    '#!/bin/sh',
    'cat <<DONE',
    'waiting for',
    'DONE',
    'for file in *; do',
    '  echo "$file: DONE"',
    'done',
    'echo DONE',
    '',
  ].join('\n'),
  'a test log': ['RUN suite', 'DONE', 'RUN other', 'DONE 0042', 'DONE ', 'FAILED', ''].join('\r\n'),
  'Markdown with fences': [
    '# Steps 😀',
    '',
    '```text',
    'DONE',
    '```',
    '',
    'DONE-list, DONENESS, [DONE]',
    '',
    '~~~',
    'DONE',
    '~~~',
    'end\u2028of text',
    '',
  ].join('\n'),
  'a state machine': 'enum State {\n  Todo,\n  DONE,\n}\nDONE = State.DONE;\n',
};

describe('R024: documents with DONE lines are written whole', () => {
  test.each(Object.entries(DOCUMENTS))('%s', (_name, document) => {
    for (const marker of ['DONE', 'DONE\r\n', 'DONE  \n\n', 'DONE 7f3a\n']) {
      const message = document + marker;
      const whole = readMessage([message]);
      expect(whole).toMatchObject({ content: document, ending: { kind: 'terminal' } });
      expect(readMessage(unitsOf(message))).toEqual(whole);
      for (let cut = 1; cut < message.length; cut += 1) {
        const { content, ending } = readMessage(splitAt(message, [cut]));
        expect({ content, ending }).toEqual({ content: document, ending: whole.ending });
      }
    }
  });
});

test('R026: while a marker is possible, nothing of it is given', () => {
  const pieces = ['a\nDO', 'NE', ' 7f', '3', 'b', '\n', '\n', 'x'];
  const given = pieces.map((_, index) => readMessage(pieces.slice(0, index + 1)).released);
  expect(given).toEqual(['a\n', 'a\n', 'a\n', 'a\n', 'a\n', 'a\n', 'a\n', 'a\nDONE 7f3b\n\nx']);
});

test.each(['DO ', 'DONEx', 'DONE \r ', 'DONE 7g', 'DONE  7', ' DONE', '```', '\n'])(
  'R026: %j can be no marker and is given at once',
  (message) => {
    expect(readMessage(unitsOf(message)).released).toBe(message);
  },
);

test('M6: endless lines and endless blanks are read in one pass', () => {
  const blanks = ' '.repeat(24);
  const many = Array.from({ length: 40_000 }, () => blanks);
  expect(readMessage(['x\nDONE', ...many]).content).toBe('x\n');
  const lineFeeds = many.map(() => '\n'.repeat(24));
  expect(readMessage(['x\nDONE\n', ...lineFeeds]).content).toBe('x\n');
  const ticks = many.map(() => '`'.repeat(24));
  const wrapped = readMessage(ticks, { wrappingFence: { character: '`', length: 3, info: '' } });
  expect(wrapped.content).toHaveLength(24 * 40_000);
});
