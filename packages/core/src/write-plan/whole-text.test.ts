import type { ByteSource, CommitResult, TargetSnapshot } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { wholeTextChange, withWarnings } from './whole-text.ts';
import type { WholeText, WholeTextChange } from './whole-text.ts';

/** Hazard: an appended text that does not begin in a line of its own, or a receipt that counts it wrongly. */

const FILE: TargetSnapshot = {
  path: 'a.txt',
  realPath: '/a.txt',
  exists: true,
  sha256: 'f00',
  bytes: 3,
  mode: 0o644,
  eol: 'lf',
  bom: false,
};
const RESULT: CommitResult = {
  path: 'a.txt',
  bytes: 9,
  lines: 3,
  sha256: 'f00',
  eol: 'lf',
  bom: false,
  mode: '0644',
  warnings: ['mode_kept'],
  not_kept: [],
};

function textOf(...chunks: readonly string[]): ByteSource {
  return async function* text(): AsyncGenerator<Uint8Array, void, undefined> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  };
}

function appended(more: Partial<TargetSnapshot>, given: Partial<WholeText> = {}): WholeTextChange {
  return wholeTextChange({
    operation: 'append',
    expected: { ...FILE, ...more },
    source: textOf('new', '', '\n'),
    eol: 'match',
    startOnNewLine: true,
    ...given,
  });
}

/** What is put into the file, and what is told of it. */
async function outcome(
  change: WholeTextChange,
): Promise<readonly [text: string, lines: number, warnings: readonly string[]]> {
  let text = '';
  for (const part of change.request.parts) {
    if (part.kind === 'kept') continue;
    for await (const chunk of part.source()) text += Buffer.from(chunk).toString();
  }
  const { lines, warnings } = change.reported(RESULT);
  return [text, lines, warnings];
}

describe('append', () => {
  const open = { unterminated: true } as const;

  it.each<[string, WholeTextChange, string, number, readonly string[]]>([
    ['behind a whole line', appended({}), 'new\n', 3, []],
    ['behind an open line', appended(open), '\nnew\n', 2, []],
    ['behind an open line of CRLF', appended({ ...open, eol: 'crlf' }), '\r\nnew\n', 2, []],
    ['behind an open line of both', appended({ ...open, eol: 'mixed' }), '\nnew\n', 2, []],
    [
      'into an open line',
      appended(open, { startOnNewLine: false }),
      'new\n',
      3,
      ['joined_without_newline'],
    ],
    ['not into a whole line', appended({}, { startOnNewLine: false }), 'new\n', 3, []],
    ['nothing behind an open line', appended(open, { source: textOf('', '') }), '', 3, []],
    [
      'nothing into an open line',
      appended(open, { source: textOf(), startOnNewLine: false }),
      '',
      3,
      [],
    ],
    [
      'nothing, in chunks, into an open line',
      appended(open, { source: textOf('', ''), startOnNewLine: false }),
      '',
      3,
      [],
    ],
    [
      'without its mark',
      appended(open, { source: textOf('\ufeffnew') }),
      '\nnew',
      2,
      ['byte_order_mark_left_out'],
    ],
  ])('%s', async (_, change, text, lines, warnings) => {
    // A source is read as often as the commit needs it.
    for (let time = 0; time < 2; time += 1)
      expect(await outcome(change)).toEqual([text, lines, ['mode_kept', ...warnings]]);
  });

  it('keeps the file, and says whether it ends its last line', () => {
    const change = appended(open);
    expect(change.request).toMatchObject({
      target: 'a.txt',
      operation: 'append',
      eol: 'match',
      expected: { ...FILE, ...open },
      parts: [{ kind: 'kept', start: 0, end: 3 }, { kind: 'new' }],
    });
    expect(change.endsLine).toBe(true);
    expect(appended({}).endsLine).toBe(false);
    expect(appended(open, { startOnNewLine: false }).endsLine).toBe(false);
  });

  it('takes no text that the file cannot hold', async () => {
    expect(() => appended({ encoding: 'utf-16le' })).toThrow(
      expect.objectContaining({ code: 'TARGET_NOT_UTF8' }),
    );
    const change = appended({ encoding: '8-bit' }, { source: textOf('é') });
    await expect(outcome(change)).rejects.toMatchObject({ code: 'TARGET_NOT_UTF8' });
  });
});

describe.each(['create', 'overwrite'] as const)('%s', (operation) => {
  it.each([
    [{}, []],
    [{ encoding: '8-bit' } as const, ['encoding_changed']],
  ])('of %j', async (more, warnings) => {
    const change = wholeTextChange({
      operation,
      expected: { ...FILE, ...more, unterminated: true },
      source: textOf('né', 'w'),
      eol: 'as-is',
      startOnNewLine: true,
    });
    expect(await outcome(change)).toEqual(['néw', 3, ['mode_kept', ...warnings]]);
    expect(change.request).toMatchObject({ operation, eol: 'as-is', parts: [{ kind: 'new' }] });
    expect(change.request.parts).toHaveLength(1);
    expect(change.givenBytes()).toBe(4);
    expect(change.endsLine).toBe(false);
  });
});

it('each warning once, those of the commit first', () => {
  expect(withWarnings(RESULT, ['b', 'mode_kept', 'b']).warnings).toEqual(['mode_kept', 'b']);
});
