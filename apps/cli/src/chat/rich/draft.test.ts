import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

import fc from 'fast-check';
import { expect, it } from 'vitest';

import type { Completer } from '../face.ts';
import { createDraft } from './draft.ts';

/** Hazard: completions arrive while a person types, and change what was typed. */

const COMMANDS = ['/help', '/history', '/resume', '/resume 12ab'];
const PATHS = ['@src/cli.ts', '@src/a b.ts', '@README.md'];

/** Answers after so many turns of the loop, as the person types on. */
function createCompleter(delays: readonly number[]): Completer {
  let asked = 0;
  return async (text, caret) => {
    const delay = delays[asked % delays.length] ?? 0;
    asked += 1;
    for (let turn = 0; turn < delay; turn += 1) await turnOfTheLoop();
    const before = text.slice(0, caret);
    const from = before.startsWith('/') ? 0 : before.lastIndexOf('@');
    if (from === -1) return null;
    const items = [...COMMANDS, ...PATHS]
      .filter((value) => value.startsWith(before.slice(from)))
      .map((value) => ({ value, label: value, detail: '' }));
    return items.length === 0 ? null : { from, items };
  };
}

const typed = fc.oneof(
  fc.constantFrom(...COMMANDS),
  fc.constantFrom(...PATHS).map((path) => `look at ${path}`),
  fc.constantFrom('/he', '/x', '@s', 'a @', 'a @README.md b', 'mail a@b.c'),
);

it('Tab on the list of an earlier text asks for that of this one', async () => {
  const draft = createDraft(
    { complete: createCompleter([0]), history: () => Promise.resolve([]), colors: false },
    () => undefined,
  );
  const press = (keys: string): void => {
    for (const key of keys) {
      draft.handle(key);
      draft.render(80);
    }
  };
  press('/he');
  for (let turn = 0; turn < 5; turn += 1) await turnOfTheLoop();
  expect(draft.render(80).menu).toHaveLength(1);
  press('l\t');
  expect(draft.text()).toBe('/hel');
  for (let turn = 0; turn < 5; turn += 1) await turnOfTheLoop();
  press('\t');
  expect(draft.text()).toBe('/help');
});

it('what is typed is sent as it is, unless a completion of it is accepted', async () => {
  await fc.assert(
    fc.asyncProperty(
      typed,
      fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
      fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
      async (text, delays, pauses) => {
        const draft = createDraft(
          {
            complete: createCompleter(delays),
            history: () => Promise.resolve([]),
            colors: false,
          },
          () => undefined,
        );
        for (const [index, key] of [...text].entries()) {
          draft.handle(key);
          draft.render(80);
          for (let turn = 0; turn < (pauses[index % pauses.length] ?? 0); turn += 1) {
            await turnOfTheLoop();
          }
        }
        const sent = draft.handle('\r');
        const now = sent ?? draft.text();
        // Completed: what was typed is its beginning, where the word begins.
        const word = text.startsWith('/') ? text : text.slice(text.lastIndexOf('@'));
        const isWhole = [...COMMANDS, ...PATHS].includes(word);
        const lead = text.slice(0, text.length - word.length);
        const allowed = isWhole
          ? [text]
          : [...COMMANDS, ...PATHS]
              .filter((each) => each.startsWith(word))
              .map((each) => lead + each);
        expect([text, ...allowed]).toContain(now);
        if (isWhole) expect(sent).toBe(text);
      },
    ),
  );
});
