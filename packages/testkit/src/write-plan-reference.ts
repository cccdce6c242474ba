import fc from 'fast-check';

/**
 * What a write plan does to one file, in the plainest way: whole texts, one operation after the other. It is slow but
 * obviously correct, a reference for code that is neither.
 */

/** An operation of a plan on one file, in its JSON form. */
export type ReferenceOperation =
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
/** Texts in which markers, line endings and open last lines are likely. */
export const planTexts: fc.Arbitrary<string> = fc
  .tuple(fc.array(word, { maxLength: 8 }), fc.boolean())
  .map(([words, ended]) => words.join('\n') + (ended && words.length > 0 ? '\n' : ''));
const marker = fc.constantFrom('M1', 'M2', 'a', 'ab', 'é', 'b\n', 'a\nb', '語');
export const planOperations: fc.Arbitrary<ReferenceOperation> = fc.oneof(
  fc.record({ type: fc.constantFrom('append' as const, 'overwrite' as const), content: planTexts }),
  fc.record({
    type: fc.constant('insert' as const),
    location_marker: marker,
    marker_type: fc.constant('string' as const),
    position: fc.constantFrom('before' as const, 'after' as const),
    content: planTexts,
  }),
  fc.record({
    type: fc.constant('insert' as const),
    location_marker: fc.constantFrom('^M1', 'M2$', '^a?b$', '語|é', '^$'),
    marker_type: fc.constant('regex' as const),
    position: fc.constantFrom('before' as const, 'after' as const),
    content: planTexts,
  }),
  fc.record({
    type: fc.constant('replace' as const),
    start_marker: marker,
    end_marker: marker,
    include_markers: fc.boolean(),
    content: planTexts,
  }),
  fc.record({ type: fc.constant('replace_all' as const), find: marker, content: planTexts }),
);

/** One operation on the whole text, in the plainest way; null when it cannot be done. */
function naive(text: string, step: ReferenceOperation, crlf: boolean): string | null {
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

/** The file after all operations; null when one of them cannot be done. */
export function planResult(text: string, operations: readonly ReferenceOperation[]): string | null {
  let crlf = isCrlf(text);
  let result: string | null = text;
  for (const step of operations) {
    if (result === null) return null;
    result = naive(result, step, crlf);
    if (step.type === 'overwrite') crlf = crlf && step.content.includes('\n');
  }
  return result;
}

function isCrlf(text: string): boolean {
  return text.includes('\n') && !/(?<!\r)\n/u.test(text);
}
