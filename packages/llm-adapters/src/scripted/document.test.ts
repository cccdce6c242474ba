import { describe, expect, test } from 'vitest';

import { NOT_FOUND } from './continuation.ts';
import { generateLines } from './document.ts';
import type { Continuation, DocumentReply, Script } from './script.ts';
import { begun, continuation, talk, user } from './testing/conversation.ts';

const TARGET = 'docs/list.md';
const CONTENT = { kind: 'lines', count: 300, template: '- {n:4} {words:6} {hex} é🎉' } as const;
const TEXT = generateLines(CONTENT);
const LINES = TEXT.split('\n').slice(0, -1);
const linesFrom = (first: number): string => `${LINES.slice(first - 1).join('\n')}\nDONE`;

function script(more: Partial<DocumentReply> = {}): Script {
  return {
    behaviours: [
      { reply: { document: { target: TARGET, content: CONTENT, ...more } } },
      { reply: { text: 'something else' } },
    ],
  };
}

/** 120 lines are saved, and a piece of line 121 that the prompt does not quote. */
const SAVED = `${LINES.slice(0, 120).join('\n')}\n${(LINES[120] ?? '').slice(0, 9)}`;
const CUT_OFF = continuation(TARGET, SAVED, 2);

describe('a document', () => {
  test('is written from its first line after begin, and only then', async () => {
    const { text } = await talk(script());
    expect(await text(...begun(TARGET))).toBe(linesFrom(1));
    expect(await text(...begun('other.md'))).toBe('something else');
    expect(await text(user('Hello'))).toBe('something else');
  });

  test('continues from the quoted lines alone, in a server that never saw the beginning', async () => {
    const { text } = await talk(script());
    expect(await text(CUT_OFF)).toBe(linesFrom(119));
  });

  test('finds lines again that occur often, by the number that the prompt names', async () => {
    const repeated = 'same line, again\n'.repeat(50);
    const { text } = await talk(script({ content: { kind: 'text', text: repeated } }));
    const reply = await text(continuation(TARGET, 'same line, again\n'.repeat(40), 8));
    expect(reply).toBe(`${'same line, again\n'.repeat(18)}DONE`);
  });

  test('forgives blanks at line ends', async () => {
    const { text } = await talk(
      script({ content: { kind: 'text', text: 'one  \r\ntwo\t\r\nthree\r\n' } }),
    );
    expect(await text(continuation(TARGET, 'one\ntwo\n', 2))).toBe(
      'one  \r\ntwo\t\r\nthree\r\nDONE',
    );
  });

  test('whose quotation is not its own is not guessed', async () => {
    const { text } = await talk(script());
    expect(await text(continuation(TARGET, 'never written\nby this model\n', 2))).toBe(NOT_FOUND);
  });

  test('continues within a long line', async () => {
    const long = `${'0123456789abcdef '.repeat(40)}unique ${'x'.repeat(800)}\nend\n`;
    const { text } = await talk(script({ content: { kind: 'text', text: long } }));
    const anchor = long.slice(560, 700);
    const prompt = `Your message was cut off. 0 lines of ${TARGET} are saved. They end with:\n<tail-00ff>\n${anchor}\n</tail-00ff>\nYour next message must start with exactly this text. Then go on in the same line, without a line break or a space that does not belong there.`;
    const start = long.indexOf(anchor);
    expect(await text(user(prompt))).toBe(`${long.slice(start)}DONE`);
  });

  test('is begun again when nothing arrived', async () => {
    const { text } = await talk(script());
    const prompt = `Nothing of ${TARGET} has arrived yet. Write its complete content now, from its first line, then DONE on its own line.`;
    expect(await text(user(prompt))).toBe(linesFrom(1));
  });

  test('is reported as finished when the idle prompt quotes its end', async () => {
    const { text } = await talk(script());
    const idle = (saved: string) =>
      user(
        `${saved.split('\n').length - 1} lines of ${TARGET} are saved. They end with:\n<tail-7f3a>\n${saved.split('\n').slice(-3, -1).join('\n')}\n</tail-7f3a>\nIf you're finished, reply DONE on its own line. Otherwise continue writing: start with exactly these 2 lines, then go on with the next line in full.`,
      );
    expect(await text(idle(TEXT))).toBe('DONE');
    expect(await text(idle(SAVED))).toBe(linesFrom(119));
  });

  test('joins two parts', async () => {
    const { text } = await talk(script());
    const part = (first: number, last: number): string => LINES.slice(first - 1, last).join('\n');
    const bridge = `Two parts of ${TARGET} must be joined. Part 1 ends with:\n<end-7f3a>\n${part(10, 11)}\n</end-7f3a>\nPart 2 begins with:\n<start-7f3a>\n${part(15, 16)}\n</start-7f3a>\nWrite the lines`;
    expect(await text(user(bridge))).toBe(`${part(10, 16)}\nDONE`);
  });

  test('answers questions truthfully, or as scripted', async () => {
    const nearMiss = user(
      'Your message ended with: DONE.\nReply DONE if that is not part of the file (it will be left out).',
    );
    const fence = user(
      `The text for ${TARGET} begins with \`\`\`md and ends with \`\`\`.\nReply STRIP if these only wrap the file.`,
    );
    const lead = (text: string): ReturnType<typeof user> =>
      user(
        `The text for ${TARGET} begins with: ${text}\nReply DROP if that is not part of the file (it will be left out). Reply KEEP if it is.`,
      );
    const empty = user(`You wrote DONE, but no content for ${TARGET}.`);
    const ambiguous = user(
      `Line 301 of what is saved for ${TARGET} is DONE, and this comes after it: "I hope"\nIf you're finished, reply DONE on its own line, or one of these lines:\nEND 301   if the file ends before line 301\nDONE      if it belongs\n<tail-7f3a>\nI hope this helps!\n</tail-7f3a>`,
    );
    const truthful = await talk(script());
    expect(await truthful.text(nearMiss)).toBe('DONE');
    expect(await truthful.text(fence)).toBe('STRIP');
    expect(await truthful.text(lead('Here it is:'))).toBe('DROP');
    expect(await truthful.text(lead(linesFrom(1).split('\n', 1)[0] ?? ''))).toBe('KEEP');
    expect(await truthful.text(empty)).toBe(linesFrom(1));
    expect(await truthful.text(ambiguous)).toBe('END 301');
    const scripted = await talk(
      script({ answers: { nearMiss: 'KEEP', fence: 'KEEP', empty: 'DONE', ambiguous: 'DONE' } }),
    );
    expect(await scripted.text(nearMiss)).toBe('KEEP');
    expect(await scripted.text(fence)).toBe('KEEP');
    expect(await scripted.text(empty)).toBe('DONE');
    expect(await scripted.text(ambiguous)).toBe('DONE');
  });

  test('may end with another marker, none, and words around it', async () => {
    const short = { content: { kind: 'text', text: 'a\nb' } } as const;
    const cases: readonly [Partial<DocumentReply>, string][] = [
      [{}, 'a\nb\nDONE'],
      [{ endMarker: 'none' }, 'a\nb'],
      [{ endMarker: 'session' }, 'a\nb\nDONE 7f3a'],
      [{ before: 'Here:', after: 'Bye.' }, 'Here:\n\na\nb\nDONE\nBye.'],
      [{ fence: 'js' }, '```js\na\nb\n```\nDONE'],
    ];
    for (const [more, expected] of cases) {
      const { text } = await talk(script({ ...short, ...more }));
      expect(await text(...begun(TARGET))).toBe(expected);
    }
  });

  test('may come from a file that the caller reads', async () => {
    const options = { readDocument: async (path: string) => `content of ${path}\n` };
    const { text } = await talk(script({ content: { kind: 'file', path: 'x.md' } }), options);
    expect(await text(...begun(TARGET))).toBe('content of x.md\nDONE');
    await expect(talk(script({ content: { kind: 'file', path: 'x.md' } }))).rejects.toMatchObject({
      code: 'SCRIPT_INVALID',
    });
  });
});

describe('a continuation', () => {
  test.for<readonly [Continuation, string]>([
    [{ variant: 'compliant' }, linesFrom(119)],
    [{ variant: 'repeat_extra', lines: 3 }, linesFrom(116)],
    [{ variant: 'no_anchor' }, linesFrom(121)],
    [{ variant: 'start_late' }, linesFrom(122)],
    [{ variant: 'skip_lines', lines: 2 }, linesFrom(123)],
    [{ variant: 'restart' }, linesFrom(1)],
    [{ variant: 'polite' }, `Of course, here is the rest of the file:\n\n${linesFrom(119)}`],
    [
      { variant: 'refence', text: 'md' },
      `\`\`\`md\n${linesFrom(119).replace('\nDONE', '\n```\nDONE')}`,
    ],
    [{ variant: 'refence', close: 'after_marker' }, `\`\`\`\n${linesFrom(119)}\n\`\`\``],
    [{ variant: 'refence', close: 'never' }, `\`\`\`\n${linesFrom(119)}`],
    [{ variant: 'ignore', text: 'No.' }, 'No.'],
  ])('%j', async ([entry, expected]) => {
    const { text } = await talk(script({ continuations: [entry] }));
    expect(await text(CUT_OFF)).toBe(expected);
  });

  test('misbehaves for the first ones only, counted from the request', async () => {
    const { text } = await talk(
      script({
        continuations: [
          { variant: 'ignore', text: 'No.', first: 2 },
          { variant: 'restart', first: 1 },
        ],
      }),
    );
    const partial = { role: 'assistant', content: 'x' } as const;
    const history = [...begun(TARGET), partial, CUT_OFF];
    expect(await text(...history)).toBe('No.');
    expect(await text(...history, partial, CUT_OFF)).toBe('No.');
    expect(await text(...history, partial, CUT_OFF, partial, CUT_OFF)).toBe(linesFrom(1));
    expect(await text(...history, partial, CUT_OFF, partial, CUT_OFF, partial, CUT_OFF)).toBe(
      linesFrom(119),
    );
    // A history that begins anew counts anew.
    expect(await text(CUT_OFF)).toBe('No.');
  });

  test('may be counted by the process instead', async () => {
    const { text } = await talk(
      script({ countBy: 'process', continuations: [{ variant: 'ignore', text: 'No.', first: 1 }] }),
    );
    expect(await text(CUT_OFF)).toBe('No.');
    expect(await text(CUT_OFF)).toBe(linesFrom(119));
  });
});
