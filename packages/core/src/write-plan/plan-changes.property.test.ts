import fc from 'fast-check';
import { expect, it } from 'vitest';

import { planOn, resultOf } from './testing/memory-files.ts';

/** Hazard: a composition of ranges that is not what doing the operations one after the other gives. */

type Operation =
  | { readonly type: 'append' | 'overwrite'; readonly content: string }
  | {
      readonly type: 'insert';
      readonly location_marker: string;
      readonly marker_type: 'string' | 'regex';
      readonly position: 'before' | 'after';
      readonly content: string;
    }
  | {
      readonly type: 'replace';
      readonly start_marker: string;
      readonly end_marker: string;
      readonly include_markers: boolean;
      readonly content: string;
    }
  | { readonly type: 'replace_all'; readonly find: string; readonly content: string };

const word = fc.constantFrom('a', 'b', 'ab', 'é', '語', 'M1', 'M2', 'x y', '');
const lines = fc
  .tuple(fc.array(word, { maxLength: 8 }), fc.boolean())
  .map(([words, ended]) => words.join('\n') + (ended && words.length > 0 ? '\n' : ''));
const marker = fc.constantFrom('M1', 'M2', 'a', 'ab', 'é', 'b\n', 'a\nb', '語');
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ type: fc.constantFrom('append' as const, 'overwrite' as const), content: lines }),
  fc.record({
    type: fc.constant('insert' as const),
    location_marker: marker,
    marker_type: fc.constant('string' as const),
    position: fc.constantFrom('before' as const, 'after' as const),
    content: lines,
  }),
  fc.record({
    type: fc.constant('insert' as const),
    location_marker: fc.constantFrom('^M1', 'M2$', '^a?b$', '語|é', '^$'),
    marker_type: fc.constant('regex' as const),
    position: fc.constantFrom('before' as const, 'after' as const),
    content: lines,
  }),
  fc.record({
    type: fc.constant('replace' as const),
    start_marker: marker,
    end_marker: marker,
    include_markers: fc.boolean(),
    content: lines,
  }),
  fc.record({ type: fc.constant('replace_all' as const), find: marker, content: lines }),
);

/** One operation on the whole text, in the plainest way; null when it cannot be done. */
function naive(text: string, step: Operation, crlf: boolean): string | null {
  const adapt = (given: string): string =>
    crlf ? given.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n') : given;
  const newline = crlf ? '\r\n' : '\n';
  const whole = (given: string): string =>
    given === '' || given.endsWith('\n') ? given : given + newline;
  const open = (given: string): string => given.replace(/\r?\n$/u, '');
  const content = adapt(step.content);
  switch (step.type) {
    case 'append':
      return text + content;
    case 'overwrite':
      return content;
    case 'replace_all':
      return text.includes(adapt(step.find)) ? text.split(adapt(step.find)).join(content) : null;
    case 'insert': {
      const place = unique(text, step.location_marker, step.marker_type, crlf);
      if (place === null) return null;
      if (step.position === 'before') {
        return text.slice(0, place.lineStart) + whole(content) + text.slice(place.lineStart);
      }
      const before = text.slice(0, place.lineEnd);
      if (content === '') return text;
      if (!before.endsWith('\n')) return before + newline + open(content);
      return before + whole(content) + text.slice(place.lineEnd);
    }
    case 'replace': {
      const first = unique(text, step.start_marker, 'string', crlf);
      const last = unique(text, step.end_marker, 'string', crlf);
      if (first === null || last === null || last.start < first.end) return null;
      if (last.start < first.lineEnd) {
        const [from, to] = step.include_markers ? [first.start, last.end] : [first.end, last.start];
        const single = content.split('\n').length === 2 && content.endsWith('\n');
        return text.slice(0, from) + (single ? open(content) : content) + text.slice(to);
      }
      const [from, to] = step.include_markers
        ? [first.lineStart, last.lineEnd]
        : [first.lineEnd, last.lineStart];
      const tail = text.slice(to);
      const atOpenEnd = tail === '' && !text.endsWith('\n');
      return text.slice(0, from) + (atOpenEnd ? open(content) : whole(content)) + tail;
    }
  }
}

function unique(
  text: string,
  named: string,
  type: 'string' | 'regex',
  crlf: boolean,
): { start: number; end: number; lineStart: number; lineEnd: number } | null {
  const found: { start: number; end: number }[] = [];
  if (type === 'string') {
    const literal = crlf ? named.replaceAll('\n', '\r\n') : named;
    for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + 1)) {
      found.push({ start: at, end: at + literal.length });
    }
  } else {
    let start = 0;
    for (const line of text.split('\n')) {
      const isLast = start + line.length === text.length;
      if (isLast && line === '') break;
      const bare = isLast ? line : line.replace(/\r$/u, '');
      for (const match of bare.matchAll(new RegExp(named, 'gu'))) {
        found.push({ start: start + match.index, end: start + match.index + match[0].length });
      }
      start += line.length + 1;
    }
  }
  const [only] = found;
  if (only === undefined || found.length > 1) return null;
  const lineStart = text.lastIndexOf('\n', only.start - 1) + 1;
  const feed = text.indexOf(
    '\n',
    type === 'string' ? Math.max(only.start, only.end - 1) : only.end,
  );
  const startsAtZero = only.start === 0 ? 0 : lineStart;
  return { ...only, lineStart: startsAtZero, lineEnd: feed === -1 ? text.length : feed + 1 };
}

it('gives what the operations give one after the other, whatever the file and the chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      lines,
      fc.boolean(),
      fc.array(operation, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 9 }),
      async (text, wantsCrlf, operations, chunk) => {
        const base = wantsCrlf ? text.replaceAll('\n', '\r\n') : text;
        let crlf = base.includes('\r\n');
        let expected: string | null = base;
        for (const step of operations) {
          if (expected === null) break;
          expected = naive(expected, step, crlf);
          if (step.type === 'overwrite') crlf = crlf && step.content.includes('\n');
        }
        const planned = await planOn(
          { 'a.txt': base },
          { intent: 'test', target_file: 'a.txt', operations },
          chunk,
        );
        expect(planned.refused).toBe(expected === null);
        if (expected !== null) expect(await resultOf(planned)).toBe(expected);
      },
    ),
    { numRuns: 1500 },
  );
});
