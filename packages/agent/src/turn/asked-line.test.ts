import type { SessionMetadata } from '@orion/contracts';
import { createSession } from '@orion/core';
import type { ControlState, PromptReason, SessionSettings, WriteSession } from '@orion/core';
import { describe, expect, it } from 'vitest';

import { askedLine } from './asked-line.ts';

const SECRET = 'the text of the file';
const METADATA = {
  session_id: '7f3a0000-0000-4000-8000-000000000000',
  target_file: 'docs/a.md',
  operation: 'create',
} as SessionMetadata;
const { session: EMPTY } = createSession(METADATA, {} as SessionSettings);

const ASKING = { kind: 'awaiting_answer', question: null } as unknown as ControlState;

function asking(question: object): Partial<WriteSession> {
  return { control: { ...ASKING, question } as ControlState };
}

const lines = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({
    line: index + 1,
    text: SECRET,
    contentEnd: 0,
    following: SECRET,
  }));

describe('R014, R039: a prompt as a person is told of it', () => {
  it.each<[PromptReason, Partial<WriteSession>, string]>([
    ['nothing_saved', {}, 'Nothing of docs/a.md has arrived yet.'],
    ['empty', {}, 'Is it to be empty?'],
    ['empty', { metadata: { ...METADATA, operation: 'append' } }, 'Write it now.'],
    ['idle', {}, '1 line of docs/a.md is saved.'],
    ['continuation', {}, 'Your message was cut off. 1 line of docs/a.md is saved.'],
    ['ask_again', {}, 'did not begin with what is saved of docs/a.md'],
    ['bridge', {}, 'Two parts of docs/a.md must be joined.'],
    ['recovery', { control: EMPTY.control }, 'was interrupted. Write it now, from its first line.'],
    ['recovery', {}, 'was interrupted. 1 line of docs/a.md is saved.'],
    ['corrections', { invalidPlaces: [{}, {}] as never }, '2 places in docs/a.md are not valid'],
    ['corrections', { invalidPlaces: [{}] as never }, '1 place in docs/a.md is not valid'],
    ['anew', {}, 'Write docs/a.md once more'],
    ['question', asking({ kind: 'end', candidates: lines(1) }), 'at line 1, and more comes after'],
    ['question', asking({ kind: 'end', candidates: lines(9) }), 'at lines 1, 2, 3, 4, 5 …, and'],
    ['question', asking({ kind: 'near_miss', text: SECRET }), 'something like DONE'],
    ['question', asking({ kind: 'fence', firstLine: SECRET, lastLine: SECRET }), 'a code fence'],
    ['question', asking({ kind: 'omission', lines: lines(2), count: 7 }), 'at lines 1, 2 …. Is it'],
    ['question', {}, 'A question about docs/a.md.'],
  ])('%s: %j', (reason, change, expected) => {
    const summary = { ...EMPTY.summary, openLineLength: SECRET.length };
    const line = askedLine(reason, {
      ...EMPTY,
      summary,
      control: { kind: 'finalizing' } as ControlState,
      ...change,
    });
    expect(line).toContain(expected);
    expect(line).toMatch(/^Asked the model: [^\n]+[.?]$/u);
    expect(line).not.toContain(SECRET);
    expect(line.length).toBeLessThanOrEqual(300);
  });
});
