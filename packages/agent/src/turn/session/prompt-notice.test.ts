import type { SessionMetadata } from '@orion/contracts';
import { createSession } from '@orion/core';
import type { ControlState, PromptReason, SessionSettings, WriteSession } from '@orion/core';
import { describe, expect, it } from 'vitest';

import { promptNotice } from './prompt-notice.ts';

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

function correcting(places: object): Partial<WriteSession> {
  return { control: { kind: 'needs_corrections', round: 0, places } as ControlState };
}

const lines = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({
    line: index + 1,
    text: SECRET,
    contentEnd: 0,
    following: SECRET,
  }));

describe('R014, R039: a prompt as a person is told of it, who is not the model', () => {
  it.each<[PromptReason, Partial<WriteSession>, string]>([
    ['nothing_saved', {}, 'to write docs/a.md, of which nothing has arrived yet.'],
    ['empty', {}, 'whether docs/a.md is to be empty: it ended its text without any.'],
    [
      'empty',
      { metadata: { ...METADATA, operation: 'append' } },
      'to write the text for docs/a.md: it ended its text',
    ],
    ['idle', {}, 'whether docs/a.md is complete, or to continue it: 1 line is saved.'],
    ['continuation', {}, 'to continue docs/a.md: its message was cut off, 1 line is saved.'],
    ['ask_again', {}, 'once more to continue docs/a.md: its reply did not begin'],
    ['bridge', {}, 'for what belongs between two parts of docs/a.md.'],
    [
      'recovery',
      { control: EMPTY.control },
      'to write docs/a.md: the session was interrupted before',
    ],
    ['recovery', {}, 'the session was interrupted, 1 line is saved.'],
    ['corrections', correcting([{}, {}]), 'at 2 places of docs/a.md that are not valid'],
    ['corrections', correcting([{}]), 'at a place of docs/a.md that is not valid'],
    ['anew', {}, 'to write docs/a.md once more'],
    [
      'question',
      asking({ kind: 'end', candidates: lines(1) }),
      'where docs/a.md ends: DONE is on line 1, and more text follows',
    ],
    ['question', asking({ kind: 'end', candidates: lines(9) }), 'on lines 1, 2, 3, 4, 5 …, and'],
    [
      'question',
      asking({ kind: 'near_miss', text: SECRET, heldBack: false }),
      'whether the end of its message is part of docs/a.md',
    ],
    [
      'question',
      asking({ kind: 'near_miss', text: SECRET, heldBack: true }),
      'whether its last reply is part of docs/a.md',
    ],
    [
      'question',
      {
        control: {
          ...asking({ kind: 'near_miss', text: SECRET, heldBack: true }).control,
          again: true,
        } as ControlState,
      },
      'Asked the model again whether its last reply',
    ],
    [
      'question',
      asking({ kind: 'fence', firstLine: SECRET, lastLine: SECRET }),
      'whether the code fence around docs/a.md is',
    ],
    [
      'question',
      asking({ kind: 'omission', lines: lines(2), count: 7 }),
      'whether docs/a.md is intended as it is: text seems to be left out at lines 1, 2 ….',
    ],
    ['question', {}, 'Asked the model about docs/a.md.'],
  ])('%s: %j', (reason, change, expected) => {
    const summary = { ...EMPTY.summary, openLineLength: SECRET.length };
    const line = promptNotice(reason, {
      ...EMPTY,
      summary,
      control: { kind: 'finalizing' } as ControlState,
      ...change,
    });
    expect(line).toContain(expected);
    expect(line).toMatch(/^Asked the model [^\n]+\.$/u);
    expect(line).not.toContain(SECRET);
    expect(line).not.toMatch(/\byou/iu);
    expect(line.length).toBeLessThanOrEqual(300);
  });
});
