import { expect, test } from 'vitest';
import type { LineAutomaton } from './line-automaton.ts';
import {
  buildLineAutomaton,
  mayContinue,
  nextState,
  reachesEnd,
  START_STATE,
} from './line-automaton.ts';

/** Hazard: a repetition is looked for in the wrong place of the content, or not found where it stands. */

/** The state behind a run of lines, each of one letter. */
function stateOf(automaton: LineAutomaton, run: string): number | null {
  let state: number | null = START_STATE;
  for (const line of run) if (state !== null) state = nextState(automaton, state, line);
  return state;
}

function wordsUpTo(length: number, letters: string): readonly string[] {
  if (length === 0) return [''];
  const shorter = wordsUpTo(length - 1, letters);
  return ['', ...shorter.flatMap((word) => letters.split('').map((letter) => word + letter))];
}

const CONTENTS = [
  'a',
  'aa',
  'ab',
  'abb',
  'aabab',
  'abcbc',
  'abcabcab',
  'aaaaaaaa',
  'abbabbba',
  'cabcbacbbaacc',
  'aababbaabbbabaabbaba',
  'abacbabcacbcaabbccabc',
];

test.each(CONTENTS)(
  'of %s: every run of up to five lines is found exactly where it stands',
  (content) => {
    const automaton = buildLineAutomaton(content.split(''));
    const runs = wordsUpTo(5, 'abc');
    const found = runs.map((run) => {
      const state = stateOf(automaton, run);
      if (state === null) return [run, null];
      return [run, reachesEnd(automaton, state), mayContinue(automaton, state)];
    });
    const expected = runs.map((run) => {
      if (!content.includes(run)) return [run, null];
      const goesOn = content.indexOf(run) + run.length < content.length;
      return [run, content.endsWith(run), goesOn];
    });
    expect(found).toEqual(expected);
  },
);

test.each([
  ...CONTENTS,
  'abbb'.repeat(40),
  'ab'.repeat(100),
  'abcd'.repeat(30) + 'dcba'.repeat(30),
])('of %s: every end of it reaches the end', (content) => {
  const automaton = buildLineAutomaton(content.split(''));
  for (let start = 0; start < content.length; start += 1) {
    const state = stateOf(automaton, content.slice(start));
    expect(state !== null && reachesEnd(automaton, state)).toBe(true);
  }
});

test('content of one line has two states, and one more line is nowhere', () => {
  const automaton = buildLineAutomaton(['one']);
  expect(nextState(automaton, START_STATE, 'one')).toBe(1);
  expect(nextState(automaton, START_STATE, 'two')).toBeNull();
  expect(nextState(automaton, 1, 'one')).toBeNull();
  expect([...automaton.terminal]).toEqual([1, 1]);
  expect([...automaton.numbers]).toEqual([['one', 0]]);
});

test('content without a line has one state, from which nothing goes on', () => {
  const automaton = buildLineAutomaton([]);
  expect([...automaton.terminal]).toEqual([1]);
  expect(nextState(automaton, START_STATE, 'one')).toBeNull();
  expect(mayContinue(automaton, START_STATE)).toBe(false);
  expect(reachesEnd(automaton, START_STATE)).toBe(true);
});

/** Runs that end at the same places share a state, and states that go on with the same line an edge. */
function smallest(content: string): { readonly states: number; readonly edges: number } {
  const states = new Set<string>();
  const edges = new Set<string>();
  for (let start = 0; start <= content.length; start += 1)
    for (let end = start; end <= content.length; end += 1) {
      const run = content.slice(start, end);
      const ends = Array.from({ length: content.length + 1 }, (_, at) => at)
        .filter((at) => content.slice(0, at).endsWith(run))
        .join();
      states.add(ends);
      if (end < content.length) edges.add(`${ends} ${content[end] ?? ''}`);
    }
  return { states: states.size, edges: edges.size };
}

test.each([...CONTENTS, 'abbb', 'abcd', 'abbbbbbb', 'abcbcbcbcd'])(
  'of %s there are as many states and edges as are needed, and no more',
  (content) => {
    const { terminal, edges } = buildLineAutomaton(content.split(''));
    expect({ states: terminal.length, edges: edges.size[0] }).toEqual(smallest(content));
  },
);

test('lines are told apart by all of their text, and counted once', () => {
  const automaton = buildLineAutomaton(['ab', 'a', 'ab', '']);
  expect([...automaton.numbers]).toEqual([
    ['ab', 0],
    ['a', 1],
    ['', 2],
  ]);
});

test('the table has room for every edge, whatever the content, and at most every second place is taken', () => {
  for (const content of ['', 'a', 'abbbbbbb', 'abcdefghijklmnopqrstuvwxyz'.repeat(8)]) {
    const { edges } = buildLineAutomaton(content.split(''));
    const size = edges.size[0] ?? 0;
    const taken = [...edges.slots].filter((edge) => edge !== -1);
    expect(taken.toSorted((left, right) => left - right)).toEqual([...Array(size).keys()]);
    expect(edges.targets.length).toBe(3 * content.length + 1);
    expect(edges.firstOf.length).toBe(2 * content.length + 1);
    expect(edges.slots.length).toBeGreaterThanOrEqual(2 * edges.targets.length);
    expect(edges.mask).toBe(edges.slots.length - 1);
  }
  expect(buildLineAutomaton([]).edges.slots).toHaveLength(16);
  // Twice 3 × 5 + 1 is just as much as 32 places take.
  expect(buildLineAutomaton([...'abcde']).edges.slots).toHaveLength(32);
  expect(buildLineAutomaton([...'abcdef']).edges.slots).toHaveLength(64);
});

test('edges are spread over the table', () => {
  const lines = Array.from({ length: 2_000 }, (_, index) => `line ${index % 700} ${index % 3}`);
  const { edges } = buildLineAutomaton(lines);
  let longest = 0;
  let run = 0;
  for (const edge of edges.slots) {
    run = edge === -1 ? 0 : run + 1;
    longest = Math.max(longest, run);
  }
  expect(longest).toBeLessThan(20);
});
