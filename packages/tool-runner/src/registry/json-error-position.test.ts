import fastCheck from 'fast-check';
import { expect, test } from 'vitest';
import { jsonErrorPosition } from './json-error-position.ts';

test.each([
  ['{"a": x}', 6],
  ['{"a": 1', 7],
  ['{"a": "b', 8],
  ['{"a": "b\\', 9],
  ['{"a": "\\q"}', 8],
  ['{"a": "\\u12x4"}', 11],
  ['{"a": "line\nbreak"}', 11],
  ['{"a" 1}', 5],
  ['{a: 1}', 1],
  ['{"a": 1,}', 8],
  ['[1,]', 3],
  ['[1}', 2],
  ['{"a": 01}', 7],
  ['{"a": -}', 7],
  ['{"a": 1.}', 8],
  ['{"a": 1e+}', 9],
  ['{"a": tru}', 9],
  ['{"a": 1} {', 9],
  ['', 0],
  ['  ', 2],
  ['[]]', 2],
  ['{}{', 2],
])('%s fails at %i', (text, position) => {
  expect(() => JSON.parse(text) as unknown).toThrow();
  expect(jsonErrorPosition(text)).toBe(position);
});

test('agrees with the engine wherever that names a position', () => {
  fastCheck.assert(
    fastCheck.property(
      fastCheck.json({ maxDepth: 4 }),
      fastCheck.nat(),
      fastCheck.constantFrom('', '"', '\\', ',', '}', ']', '{', ':', '1', 'x', ' ', '\n', '-', '.'),
      fastCheck.nat({ max: 3 }),
      (json, seed, inserted, removed) => {
        const at = seed % (json.length + 1);
        const text = json.slice(0, at) + inserted + json.slice(at + removed);
        try {
          JSON.parse(text);
        } catch (error) {
          const position = jsonErrorPosition(text);
          const told = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(
            (error as Error).message,
          );
          if (told !== null) expect(position).toBe(Number(told[1]));
          // A text that only ended too early is refused at its end.
          if (String(error).includes('Unexpected end')) expect(position).toBe(text.length);
          expect(position).toBeLessThanOrEqual(text.length);
        }
      },
    ),
    { numRuns: 2000 },
  );
});
