import { countWork } from '@orion/testkit';
import { expect, test } from 'vitest';
import { chooseAnchor } from './anchor.ts';
import { appendToSummary, createSummary } from '../content-summary.ts';
import { createSeamReader, endSeam, MAX_HELD, readSeam } from './seam-reader.ts';
import { anchorFor, END_MARKER, joinedContent, readReply } from '../testing/continuation.ts';

/** Hazard: content or replies of an unlucky shape for which time or memory grows faster than the text. */

function timeOf(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

const WINDOW = 131_072;

/** Work for content of half a window and of a whole one. */
function growth(work: (size: number) => void): number {
  return countWork(() => work(WINDOW)) / countWork(() => work(WINDOW / 2));
}

for (const [name, contentOf, tags] of [
  ['equal lines', (size: number) => 'row\n'.repeat(size / 4), []],
  ['equal short lines', (size: number) => '}\n'.repeat(size / 2), ['long']],
  [
    'blank lines',
    (size: number) => `the only line with any ink in it\n${'\n'.repeat(size)}`,
    ['long'],
  ],
  ['alternating lines', (size: number) => 'a\nb\n'.repeat(size / 4), ['long']],
  ['one line', (size: number) => 'x'.repeat(size), ['long']],
] as const) {
  const title = `${name}: an anchor and a reply cost twice as much for twice the text`;
  test(title, { tags: [...tags] }, () => {
    const anchor = growth((size) =>
      chooseAnchor(appendToSummary(createSummary(), contentOf(size))),
    );
    expect(anchor).toBeLessThan(2.5);
    const replies = [
      (size: number) => [contentOf(size), 'end\n'],
      (size: number) => `${'\n'.repeat(size)}end\n`,
    ];
    for (const reply of replies)
      expect(growth((size) => readReply(contentOf(size), reply(size)))).toBeLessThan(2.5);
  });
}

test('one line of repeated words: an anchor is found in time, and a reply read in time', () => {
  const saved = 'lorem ipsum '.repeat(WINDOW / 12);
  const summary = appendToSummary(createSummary(), saved);
  expect(timeOf(() => chooseAnchor(summary))).toBeLessThan(5_000);
  expect(timeOf(() => readReply(saved, [saved, 'end\n']))).toBeLessThan(10_000);
  expect(timeOf(() => readReply(saved, `${'\n'.repeat(WINDOW)}end\n`))).toBeLessThan(10_000);
});

test(
  'a restart of 8 MB is verified without holding it, in linear time (rule 5)',
  { tags: ['long'] },
  () => {
    const saved = Array.from(
      { length: 180_000 },
      (_, index) => `line ${index} of a file that is rather long, ${index % 7}\n`,
    ).join('');
    const summary = appendToSummary(createSummary(), `${saved}\n\nthe open l`);
    let reader = createSeamReader({
      summary,
      anchor: chooseAnchor(summary),
      kind: 'code',
      readToEnd: false,
      endMarker: END_MARKER,
    });
    const reply = `${saved}\n\nthe open line\nmore\n`;
    let held = 0;
    let rest: string | null = null;
    const time = timeOf(() => {
      for (let from = 0; from < reply.length; from += 4_096) {
        const piece = reply.slice(from, from + 4_096);
        if (rest !== null) {
          rest += piece;
          continue;
        }
        const read = readSeam(reader, piece);
        reader = read.reader;
        const kept = reader.continuations.reduce(
          (length, continuation) => length + continuation.held.length,
          0,
        );
        held = Math.max(held, kept + reader.line.length + reader.unread.length);
        if (read.verdict !== null) {
          expect(read.verdict).toMatchObject({ kind: 'verified', via: 'restart' });
          rest = read.verdict.kind === 'verified' ? read.verdict.rest : null;
        }
      }
    });
    expect(rest).toBe('ine\nmore\n');
    expect(held).toBeLessThan(MAX_HELD);
    expect(time).toBeLessThan(15_000);
  },
);

test.each([100, 1_000, 9_000])('a restart that differs in line %i is hopeless', (changed) => {
  const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index} of a long file\n`);
  const reply = lines.with(changed, 'another line\n').join('');
  expect(readReply(lines.join(''), `${reply}more\n`)).toMatchObject({ kind: 'hopeless' });
});

test('an endless line is not kept for a join that cannot come', () => {
  const saved = Array.from({ length: 40 }, (_, index) => `line number ${index}\n`).join('');
  const summary = appendToSummary(createSummary(), saved);
  const reader = createSeamReader({
    summary,
    anchor: chooseAnchor(summary),
    kind: 'code',
    readToEnd: true,
    endMarker: END_MARKER,
  });
  const { reader: after, verdict } = readSeam(reader, 'x'.repeat(10_000_000));
  expect(verdict).toBeNull();
  expect(after.line.length + after.unread.length).toBeLessThan(1_024);
  expect(endSeam(after)).toEqual({ kind: 'hopeless', reason: 'no_alignment' });
});

test('a continuation in one line of a megabyte is verified long before that line ends (rule 8)', () => {
  const line = Array.from({ length: 100_000 }, (_, index) => `[${index},"v"]`).join(',');
  const saved = `[\n${line.slice(0, 500_000)}`;
  const anchor = anchorFor(saved);
  const reply = `${anchor.kind === 'characters' ? anchor.text : ''}${line.slice(500_000)}`;
  const verdict = readReply(saved, reply.match(/[^]{1,777}/gu) ?? []);
  expect(joinedContent(saved, verdict)).toBe(`[\n${line}`);
});
