import type { ChangeProposal } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { openPseudoTerminal, type PseudoTerminal } from '../../testing/pseudo-terminal.ts';
import type { Completer, Face, FaceInput, FaceQuestion, FaceView } from '../face.ts';
import { reviewChanges } from '../review.ts';
import { createRichFace } from './rich-face.ts';

/** Hazard: what a person types is lost, goes to the wrong place, or is shown where it is not. */

const IDLE: FaceView = {
  busy: false,
  activity: null,
  queued: [],
  status: ['gpt-5', 'act'],
  question: null,
};
const BUSY: FaceView = { ...IDLE, busy: true };
const QUESTION: FaceQuestion = {
  kind: 'choice',
  id: 1,
  text: 'Write src/a.ts (+6 −2)?',
  choices: [
    { key: 'y', label: '(y)es', asksFor: null },
    { key: 'n', label: '(n)o, keep the text', asksFor: null },
    { key: 't', label: '(t)ell the model why not', asksFor: 'Why not' },
  ],
  preset: null,
};
/** Sequences that we make; with the colours these are all. */
const OURS =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /\u001B\[(?:\?(?:2004|2026|7|25)[hl]|>1u|<u|J|\d+A|[\d;]*m)/gu;

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/u;

type Opened = {
  readonly face: Face;
  readonly terminal: PseudoTerminal;
  readonly inputs: FaceInput[];
};
type Options = {
  readonly history?: readonly string[];
  readonly complete?: Completer;
  readonly columns?: number;
  readonly rows?: number;
  readonly colors?: boolean;
  /** Before the face has the terminal. */
  readonly typedBefore?: string;
};

const opened: Opened[] = [];
afterEach(async () => {
  for (const { face, terminal } of opened.splice(0)) {
    await face.close();
    await terminal.rows();
    expect(terminal.bytes().replaceAll(OURS, '')).not.toMatch(CONTROL);
    expect(terminal.stdin.isRaw).toBe(false);
    terminal.dispose();
  }
});

async function open({
  history = [],
  complete,
  columns,
  rows,
  colors = true,
  typedBefore = '',
}: Options = {}): Promise<Opened> {
  const terminal = await openPseudoTerminal(columns, rows);
  terminal.type(typedBefore);
  // As the terminal repeats it.
  await until(() => expect(terminal.bytes()).toContain(typedBefore.replaceAll('\r', '\r\n')));
  const face = createRichFace({
    stdin: terminal.stdin,
    output: terminal.output,
    environment: {},
    colors,
    bell: false,
    complete: complete ?? (() => Promise.resolve(null)),
    history: () => Promise.resolve(history),
  });
  const inputs: FaceInput[] = [];
  void (async () => {
    for await (const input of face.inputs) inputs.push(input);
  })();
  const all = { face, terminal, inputs };
  opened.push(all);
  face.show(IDLE);
  await terminal.shows('gpt-5 · act');
  return all;
}

const until = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 5000, interval: 5 });
/** The row of the cursor, and what of it is left of the cursor. */
async function caret({
  terminal,
}: Opened): Promise<{ readonly row: string; readonly left: string }> {
  const { row, column } = await terminal.cursor();
  const { active } = terminal.emulator.buffer;
  const line = active.getLine(active.baseY + row);
  return {
    row: line?.translateToString(true).trimEnd() ?? '',
    left: line?.translateToString(false, 0, column) ?? '',
  };
}

const ESC = '\u001B';
const UP = '\u001B[A';
const DOWN = '\u001B[B';

describe('the draft', () => {
  it('is sent by Enter; Ctrl-J, Alt-Enter, Shift-Enter and a backslash make a new line', async () => {
    const { terminal, inputs } = await open();
    terminal.type('one\ntwo\u001B\rthree\u001B[13;2ufour\\\rfive\tsix');
    await terminal.shows('five');
    terminal.type('\r');
    await until(() =>
      expect(inputs).toEqual([{ type: 'submitted', text: 'one\ntwo\nthree\nfour\nfivesix' }]),
    );
    terminal.type('  \r kept blanks \r');
    await until(() => expect(inputs).toHaveLength(2));
    expect(inputs[1]).toEqual({ type: 'submitted', text: '   kept blanks ' });
  });

  it('is sent by Enter that was typed before the terminal was taken; Ctrl-J behind it makes a new line', async () => {
    const { terminal, inputs } = await open({ typedBefore: 'first\rsecond' });
    await until(() => expect(inputs).toEqual([{ type: 'submitted', text: 'first' }]));
    await terminal.shows('> second');
    terminal.type('\nline\r');
    await until(() => expect(inputs[1]).toEqual({ type: 'submitted', text: 'second\nline' }));
  });

  it.each([
    ['CJK', '日本語の文章', '> 日本語の文章'],
    ['joined emoji', 'a\u{1F468}\u200D\u{1F469}\u200D\u{1F467}b', null],
    ['right to left', 'שלום עולם', '> שלום עולם'],
    ['combining marks', 'e\u0301a\u0308o\u0302', '> e\u0301a\u0308o\u0302'],
  ])('has its cursor where it belongs: %s', async (_, text, whole) => {
    const all = await open();
    const { terminal, inputs } = all;
    terminal.type(text);
    await until(async () =>
      expect((await caret(all)).row.normalize()).toContain(text.normalize().slice(0, 1)),
    );
    await all.terminal.rows();
    if (whole !== null) {
      await until(async () => expect(await caret(all)).toEqual({ row: whole, left: whole }));
    }
    const graphemes = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
    terminal.type('\u001B[D\u001B[D');
    const left = `> ${graphemes.slice(0, -2).join('')}`;
    await until(async () => expect((await caret(all)).left).toBe(left));
    terminal.type('X\r');
    await until(() =>
      expect(inputs).toEqual([
        {
          type: 'submitted',
          text: [...graphemes.slice(0, -2), 'X', ...graphemes.slice(-2)].join(''),
        },
      ]),
    );
  });

  it('takes a paste of 10,000 lines as it is', async () => {
    const { terminal, inputs } = await open();
    const text = Array.from(
      { length: 10_000 },
      (_, line) => `\tline ${line}: ${'x'.repeat(60)}`,
    ).join('\n');
    await terminal.typeAll(`before \u001B[200~${text.replaceAll('\n', '\r')}\u001B[201~`);
    await terminal.shows('[paste #1 +10000 lines]');
    terminal.type(' after\r');
    await until(() => expect(inputs).toHaveLength(1));
    expect(inputs[0]).toEqual({ type: 'submitted', text: `before ${text} after` });
  });

  it('B15, B16: shows what is pasted or completed harmlessly, and sends the text as it was', async () => {
    const { face, terminal, inputs } = await open();
    terminal.type('\u001B[200~a\u202Eb\u009B31m\tc\u001B[201~');
    await terminal.shows('> a\\u202eb\\x9b31m c');
    terminal.type('\r');
    await until(() =>
      expect(inputs).toEqual([{ type: 'submitted', text: 'a\u202Eb\u009B31m\tc' }]),
    );
    face.setDraft('x\u001B[2Jy');
    await terminal.shows('> x\\x1b[2Jy');
  });

  it('Up and Down look through earlier prompts and come back to the draft', async () => {
    const all = await open({ history: ['first', 'second\nline'] });
    const { terminal, inputs } = all;
    terminal.type('draft');
    await terminal.shows('> draft');
    terminal.type(UP);
    await terminal.shows('> second');
    terminal.type(UP + UP);
    await terminal.shows('> first');
    terminal.type(UP + DOWN);
    await terminal.shows('> second');
    terminal.type(DOWN);
    await terminal.shows('> draft');
    terminal.type('ed\r');
    await until(() => expect(inputs).toEqual([{ type: 'submitted', text: 'drafted' }]));
    terminal.type(UP);
    await terminal.shows('> drafted');
  });

  it('Ctrl-R searches them', async () => {
    const { terminal, inputs } = await open({
      history: ['write the guide', 'fix the test', 'guide me'],
    });
    terminal.type('\u0012');
    await terminal.shows('Earlier prompts');
    terminal.type('guide');
    await until(async () =>
      expect((await terminal.rows()).join('\n')).not.toContain('fix the test'),
    );
    terminal.type(`${DOWN}\r`);
    await terminal.shows('> write the guide');
    terminal.type('\r');
    await until(() => expect(inputs).toEqual([{ type: 'submitted', text: 'write the guide' }]));
  });

  it('Ctrl-R says that there are none yet', async () => {
    const { terminal, inputs } = await open();
    terminal.type('\u0012');
    await terminal.shows('There are no earlier prompts yet.');
    terminal.type('x\r');
    await until(() => expect(inputs).toEqual([{ type: 'submitted', text: 'x' }]));
  });

  it('completes what is begun, names of files being harmless', async () => {
    const complete: Completer = (text, at) =>
      Promise.resolve(
        /@\S*$/u.test(text.slice(0, at))
          ? {
              from: text.lastIndexOf('@', at),
              items: [
                { value: '@src/cli.ts', label: 'src/cli.ts', detail: '14 kB' },
                { value: '@src/\u001B[2Jx', label: 'src/\u001B[2Jx', detail: '\u202E' },
              ],
            }
          : null,
      );
    const { terminal, inputs } = await open({ complete });
    terminal.type('look at @s');
    await terminal.shows('src/\\x1b[2Jx');
    expect((await terminal.rows()).join('\n')).toContain('14 kB');
    terminal.type('\t');
    await terminal.shows('> look at @src/cli.ts');
    terminal.type(' x\r');
    await until(() =>
      expect(inputs).toEqual([{ type: 'submitted', text: 'look at @src/cli.ts x' }]),
    );
  });

  it.each([60, 100])('shows ids whole in %d columns, and cuts what they name', async (columns) => {
    const id = '01234567-89ab-cdef-0123-456789abcdef';
    const complete: Completer = () =>
      Promise.resolve({
        from: 0,
        items: [{ value: id, label: id, detail: 'a title '.repeat(20) }],
      });
    const { terminal } = await open({ complete, columns });
    terminal.type('/');
    await terminal.shows(`→ ${id}  a title`);
    await terminal.shows('…');
    await terminal.resize(50, 24);
    await terminal.shows(new RegExp(`^→ ${id}  \\S.*…$`, 'mu'));
  });

  it('a command that was chosen from the list is sent by the same Enter', async () => {
    const complete: Completer = (text) =>
      Promise.resolve(
        text.startsWith('/')
          ? { from: 0, items: [{ value: '/help', label: '/help', detail: 'keys and commands' }] }
          : null,
      );
    const { terminal, inputs } = await open({ complete });
    terminal.type('/h');
    await terminal.shows('keys and commands');
    terminal.type(ESC);
    await until(async () => expect((await terminal.rows()).join('\n')).not.toContain('keys and'));
    terminal.type('e');
    await terminal.shows('keys and commands');
    terminal.type('\r');
    await until(() => expect(inputs).toEqual([{ type: 'submitted', text: '/help' }]));
  });
});

it('reports the keys that are not for the draft', async () => {
  const { face, terminal, inputs } = await open();
  terminal.type('text\u0007\u0003');
  await until(() =>
    expect(inputs).toEqual([
      { type: 'edit', draft: 'text' },
      { type: 'interrupt', draft: 'text' },
    ]),
  );
  terminal.type(ESC);
  await until(() => expect(inputs[2]).toEqual({ type: 'stop' }));
  face.setDraft('');
  face.show({ ...BUSY, queued: ['and mention Windows'] });
  await terminal.shows(/and mention Windows +queued: 1/u);
  terminal.type(`${UP}\u0004`);
  await until(() => expect(inputs.slice(3)).toEqual([{ type: 'recall' }, { type: 'end' }]));
  terminal.type(UP);
  face.show(IDLE);
  await terminal.shows('> ');
});

describe('questions', () => {
  it('are answered by a letter, Enter where there is a preset, or closed by Esc', async () => {
    const { face, terminal, inputs } = await open();
    face.show({ ...BUSY, question: QUESTION });
    await terminal.shows('Write src/a.ts (+6 −2)?  (y)es  (n)o, keep the text');
    terminal.type('x\ry');
    await until(() => expect(inputs).toEqual([{ type: 'answered', id: 1, value: 'y', text: '' }]));
    face.show({ ...BUSY, question: QUESTION });
    face.show({ ...BUSY, question: { ...QUESTION, id: 2, preset: 'n', text: 'Again?' } });
    await terminal.shows('Again?');
    terminal.type('\r');
    await until(() => expect(inputs[1]).toMatchObject({ id: 2, value: 'n' }));
    face.show({ ...BUSY, question: { ...QUESTION, id: 3, text: 'Third?' } });
    await terminal.shows('Third?');
    terminal.type(ESC);
    await until(() => expect(inputs[2]).toMatchObject({ id: 3, value: null }));
    expect(inputs).toHaveLength(3);
  });

  it('take the text that an answer needs', async () => {
    const { face, terminal, inputs } = await open();
    face.show({ ...BUSY, question: QUESTION });
    await terminal.shows('(t)ell');
    terminal.type('t');
    await terminal.shows('Why not:');
    terminal.type(ESC);
    await terminal.shows('(t)ell');
    terminal.type('tuse ');
    terminal.type('\u001B[200~tabs\u001B[201~');
    await terminal.shows('Why not: use tabs');
    terminal.type('\r');
    await until(() =>
      expect(inputs).toEqual([{ type: 'answered', id: 1, value: 't', text: 'use tabs' }]),
    );
  });

  it('offer a list that typing narrows down', async () => {
    const { face, terminal, inputs } = await open();
    const items = Array.from({ length: 30 }, (_, index) => ({
      value: `id-${index}`,
      label: `Conversation ${index}`,
      detail: index % 10 === 5 ? 'unfinished \u001B]0;x\u0007' : '',
    }));
    face.show({ ...IDLE, question: { kind: 'pick', id: 7, text: 'Conversations', items } });
    await terminal.shows('(1/30)');
    await terminal.shows(/^Conversations {53}type to filter$/mu);
    terminal.type('unfin');
    await terminal.shows('Conversation 15');
    terminal.type(`${DOWN}${DOWN}\r`);
    await until(() =>
      expect(inputs).toEqual([{ type: 'answered', id: 7, value: 'id-25', text: '' }]),
    );
  });

  it.each([60, 100])('a list of %d columns has its details whole', async (columns) => {
    const { face, terminal } = await open({ columns });
    const detail = '5 min ago, 4 messages, 1 unfinished';
    const items = [
      { value: 'a', label: 'Write docs/guide.md: a complete guide '.repeat(4), detail },
      { value: 'b', label: '日本語 '.repeat(20), detail: '2 days ago' },
    ];
    face.show({ ...IDLE, question: { kind: 'pick', id: 7, text: 'Conversations', items } });
    await terminal.shows(detail);
    const rows = await terminal.rows();
    const first = rows.find((row) => row.startsWith('→')) ?? '';
    expect(first).toMatch(/^→ Write docs.*… {2}5 min/u);
    expect(first).toHaveLength(columns - 2);
    expect(rows.find((row) => row.includes('日本'))).toMatch(/… {2,3}2 days ago$/u);
  });

  it('B18: a diff that is shown whole has every line when it is asked about again, however slow the terminal', async () => {
    const { face, terminal } = await open({ columns: 400 });
    const lines = Array.from(
      { length: 10_000 },
      (_, line) => `+${String(line).padStart(300, '0')}`,
    );
    const change: ChangeProposal = {
      target_file: 'a',
      real_path: '/ws/a',
      operation: 'create',
      before: null,
      after: { bytes: 3_010_000, sha256: 'b'.repeat(64) },
      crlf: false,
      protected: false,
      hard_link: false,
      async *diff() {
        yield* lines;
      },
    };
    let asked = 0;
    const review = reviewChanges({
      line: (text, tone) => face.print({ kind: 'line', text, tone }),
      whole: (whole) => face.printWhole(whole),
      async ask() {
        asked += 1;
        // By which the terminal has everything.
        if (asked === 2) await terminal.shows(lines.at(-1) ?? '');
        else terminal.pause();
        return { value: asked === 1 ? 'd' : 'y', text: '' };
      },
      clock: systemClock,
    });
    const { signal } = new AbortController();
    const answer = review({ id: 'i', intent: 'a test', changes: [change] }, signal);
    await until(() => expect(asked).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 100));
    terminal.resume();
    expect(await answer).toEqual({ approved: true });
    const shown = (await terminal.lines()).filter((line) => line.startsWith('+')).map(Number);
    // Behind the beginning, which was shown first.
    expect(shown.slice(100)).toEqual(lines.map(Number));
  });

  it('B18: what is typed before one is shown is in the draft, and answers nothing', async () => {
    const { face, terminal, inputs } = await open();
    terminal.type('Say y');
    await terminal.shows('Say y');
    face.show({ ...BUSY, question: QUESTION });
    terminal.type('yyy');
    await terminal.shows('Write src/a.ts');
    expect(inputs).toEqual([]);
    terminal.type('n');
    await until(() => expect(inputs).toEqual([{ type: 'answered', id: 1, value: 'n', text: '' }]));
    face.show(BUSY);
    await terminal.shows('> Say yyyy');
  });

  it('one that is withdrawn before it is shown never is', async () => {
    const { face, terminal, inputs } = await open();
    terminal.type('x');
    await terminal.shows('> x');
    face.show({ ...BUSY, question: QUESTION });
    face.show(BUSY);
    await new Promise((resolve) => setTimeout(resolve, 200));
    terminal.type('y');
    await terminal.shows('> xy');
    expect(inputs).toEqual([]);
    expect(terminal.bytes()).not.toContain('Write src');
  });

  it('B18: one that needs many rows is in the transcript whole', async () => {
    const { face, terminal } = await open({ columns: 50 });
    const path = `${'folder/'.repeat(80)}file.ts`;
    face.show({ ...BUSY, question: { ...QUESTION, text: `Write ${path} (1 line)?` } });
    await terminal.shows('The question is above.');
    expect((await terminal.lines()).join('')).toContain(`Write ${path} (1 line)?`);
  });
});

describe('the screen', () => {
  it(
    '300 lines of an answer appear once, in order, over four widths',
    { tags: ['long'] },
    async () => {
      const { face, terminal } = await open({ columns: 100 });
      face.show(BUSY);
      const widths = [100, 60, 90, 41];
      for (let line = 0; line < 300; line += 1) {
        face.say(`- line ${line} of the answer\n`);
        if (line % 75 === 74) {
          await terminal.shows(`line ${line} of`);
          // Long enough for a frame not to be on its way any more: else its rows may stay, as stale ones.
          await new Promise((resolve) => setTimeout(resolve, 260));
          await terminal.resize(widths[(line - 74) / 75] ?? 80, 24);
        }
      }
      face.endSaying();
      face.show({ ...IDLE, status: ['over'] });
      await terminal.shows('over');
      const lines = (await terminal.lines()).filter((line) => line.includes('of the answer'));
      expect(lines.map((line) => Number(/\d+/u.exec(line)?.[0]))).toEqual(
        Array.from({ length: 300 }, (_, index) => index),
      );
    },
  );

  it('a resize at every step keeps the transcript and the draft', async () => {
    const { face, terminal } = await open();
    const steps: (() => void)[] = [
      () => face.print({ kind: 'line', text: 'one', tone: 'notice' }),
      () => terminal.type('dra'),
      () => face.show({ ...BUSY, activity: 'docs/guide.md  221 lines', queued: ['later'] }),
      () => face.say('an open line'),
      () => face.print({ kind: 'prompt', text: 'sent', attached: ['@a 3 lines'] }),
      () => face.show({ ...BUSY, question: QUESTION }),
      () => terminal.type('n'),
      () => face.show(IDLE),
      () => face.endSaying(),
    ];
    const sizes = [
      [44, 9],
      [120, 40],
      [61, 12],
      [80, 24],
    ];
    for (const [index, step] of steps.entries()) {
      step();
      const [columns = 80, rows = 24] = sizes[index % sizes.length] ?? [];
      await new Promise((resolve) => setTimeout(resolve, index === 5 ? 150 : 40));
      await terminal.resize(columns, rows);
    }
    await terminal.shows('> dra');
    const lines = await terminal.lines();
    const said = lines.filter((line) => /^(?:one|> sent| {2}@a 3 lines|an open line)$/u.test(line));
    expect(said).toEqual(['one', '> sent', '  @a 3 lines', 'an open line']);
  });

  it('is drawn for a new width at once, without colours where there are none', async () => {
    const { face, terminal } = await open({ colors: false });
    face.print({ kind: 'line', text: `${'words '.repeat(12)}end`, tone: 'error' });
    await terminal.resize(50, 24);
    await terminal.shows(/^─{50}$/mu);
    face.print({ kind: 'line', text: `${'words '.repeat(12)}end`, tone: 'error' });
    await terminal.shows(/^(?:words ){7}words\n(?:words ){4}end$/mu);
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    expect(terminal.bytes()).not.toMatch(/\u001B\[[\d;]*m/u);
  });

  it('leaves nothing of the region behind when it is closed or lent', async () => {
    const { face, terminal } = await open();
    face.print({ kind: 'line', text: 'said', tone: 'success' });
    let raw: boolean | null = null;
    await face.lend(async () => {
      raw = terminal.stdin.isRaw;
      expect(await terminal.lines()).toEqual(['said']);
    });
    expect(raw).toBe(false);
    await terminal.shows('gpt-5');
    await face.close();
    expect(await terminal.lines()).toEqual(['said']);
  });
});
