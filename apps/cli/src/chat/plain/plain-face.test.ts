import { afterEach, describe, expect, it, vi } from 'vitest';

import { openPseudoTerminal, type PseudoTerminal } from '../../testing/pseudo-terminal.ts';
import type { Face, FaceInput, FaceQuestion, FaceView } from '../face.ts';
import { createPlainFace } from './plain-face.ts';

/** Hazard: a screen reader reads what is written, once, and everything has to be said in words and done by lines. */

const IDLE: FaceView = { busy: false, activity: null, queued: [], status: [], question: null };
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
/** A colour is the only sequence that there may be. */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const OTHER_SEQUENCES = /\u001B(?!\[[\d;]*m)|[\u0080-\u009F]/u;

type Opened = {
  readonly face: Face;
  readonly terminal: PseudoTerminal;
  readonly inputs: FaceInput[];
  readonly ended: Promise<void>;
};

const opened: Opened[] = [];
afterEach(async () => {
  for (const { face, terminal } of opened.splice(0)) {
    await face.close();
    expect(terminal.bytes()).not.toMatch(OTHER_SEQUENCES);
    terminal.dispose();
  }
});

async function open(options: { bell?: boolean; colors?: boolean } = {}): Promise<Opened> {
  const terminal = await openPseudoTerminal();
  const face = createPlainFace({
    stdin: terminal.stdin,
    output: terminal.output,
    environment: {},
    colors: options.colors ?? true,
    bell: options.bell ?? true,
    complete: () => Promise.resolve(null),
    history: () => Promise.resolve([]),
  });
  const inputs: FaceInput[] = [];
  const ended = (async () => {
    for await (const input of face.inputs) inputs.push(input);
  })();
  const all = { face, terminal, inputs, ended };
  opened.push(all);
  return all;
}

const until = (check: () => void): Promise<void> =>
  vi.waitFor(check, { timeout: 5000, interval: 5 });

it('says that a prompt waits where it waits for a turn, not for the start', async () => {
  const { face, terminal } = await open();
  face.show({ ...IDLE, queued: ['/continue s1'] });
  face.show({ ...IDLE, busy: true, queued: ['one'] });
  face.show({ ...IDLE, busy: true, queued: ['one', 'two'] });
  await terminal.shows('Waits for the end of the turn: 2.');
  expect(terminal.bytes().match(/Waits for/gu)).toHaveLength(1);
});

it('B18: leaves out nothing of what a person is asked about', async () => {
  const { face, terminal } = await open();
  terminal.pause();
  const texts = Array.from({ length: 3000 }, (_, line) => `+${String(line).padStart(1000, '0')}`);
  const printed = face.printWhole(texts.map((text) => ({ text, tone: 'success' })));
  await new Promise((resolve) => setTimeout(resolve, 50));
  terminal.resume();
  await printed;
  // The last lines may still be on their way when they have been printed.
  await terminal.shows(texts.at(-1)?.slice(-30) ?? '');
  const shown = (await terminal.lines()).filter((line) => line.startsWith('+'));
  expect(shown.map(Number)).toEqual(texts.map(Number));
});

describe('what is typed', () => {
  it('ends its line when the terminal ends it: text that comes before it is read stands by itself', async () => {
    const { face, terminal, inputs } = await open();
    face.show({ ...IDLE, busy: true });
    face.say('One. ');
    await terminal.shows('One.');
    terminal.stdin.once('data', () => face.say('Two.'));
    terminal.type('next\r');
    await until(() => expect(inputs).toEqual([{ type: 'submitted', text: 'next' }]));
    face.print({ kind: 'line', text: 'A notice.', tone: 'notice' });
    await terminal.shows('A notice.');
    expect((await terminal.rows()).filter((row) => row !== '')).toEqual([
      'One. next',
      'Two.',
      'A notice.',
    ]);
  });

  it('a line is a prompt; one that ends in a backslash goes on; quotes hold several lines', async () => {
    const { face, terminal, inputs } = await open();
    face.show(IDLE);
    await terminal.shows(/^> $|^>$/mu);
    terminal.type('first\r');
    await until(() => expect(inputs).toEqual([{ type: 'submitted', text: 'first' }]));
    terminal.type('one\\\r');
    await terminal.shows('|');
    terminal.type('two\r');
    await until(() => expect(inputs[1]).toEqual({ type: 'submitted', text: 'one\ntwo' }));
    terminal.type('"""\r');
    await terminal.shows(/\|\s*$/u);
    terminal.type('a\\\r');
    await new Promise((resolve) => setTimeout(resolve, 40));
    terminal.type('b """\r');
    await until(() => expect(inputs[2]).toEqual({ type: 'submitted', text: 'a\\\nb ' }));
  });

  it('lines of a paste are one prompt, backslashes and all', async () => {
    const { terminal, inputs } = await open();
    terminal.type('docker run \\\r  -it x\r\rend\r');
    await until(() =>
      expect(inputs).toEqual([{ type: 'submitted', text: 'docker run \\\n  -it x\n\nend' }]),
    );
  });

  it('the end of the input ends it', async () => {
    const { terminal, inputs, ended } = await open();
    terminal.type('\u0004');
    await ended;
    expect(inputs).toEqual([{ type: 'end' }]);
  });
});

describe('what is shown', () => {
  it('lines follow each other; an open line is ended before the next one', async () => {
    const { face, terminal } = await open();
    face.show({ ...IDLE, busy: true });
    face.say('I will ');
    face.say('cover **it**.');
    face.endSaying();
    face.print({ kind: 'line', text: 'Created a.md', tone: 'success' });
    face.print({ kind: 'prompt', text: 'next\nlines', attached: ['@a.ts 4 lines'] });
    face.print({ kind: 'verbatim', lines: [{ text: '\t+a', tone: 'success' }] });
    face.show(IDLE);
    await terminal.shows('+a');
    expect(await terminal.lines()).toEqual([
      'I will cover **it**.',
      'Created a.md',
      '> next',
      '> lines',
      '  @a.ts 4 lines',
      '        +a',
      '>',
    ]);
    expect(terminal.bytes()).toContain('\u001B[32mCreated a.md\u001B[0m');
    expect(terminal.bytes().split('\u0007')).toHaveLength(2);
  });

  it('a prompt that was just typed is not repeated, a later one is', async () => {
    const { face, terminal, inputs } = await open();
    face.show(IDLE);
    terminal.type('hello\r');
    await until(() => expect(inputs).toHaveLength(1));
    face.show({ ...IDLE, busy: true });
    face.print({ kind: 'prompt', text: 'hello', attached: ['@b'] });
    face.print({ kind: 'line', text: 'between', tone: 'notice' });
    face.print({ kind: 'prompt', text: 'hello', attached: [] });
    await terminal.shows(/between\n> hello/u);
    expect(await terminal.lines()).toEqual(['> hello', '  @b', 'between', '> hello']);
  });

  it('B15, B16: nothing of anybody else reaches the terminal, colours of ours can be switched off', async () => {
    const { face, terminal } = await open({ colors: false, bell: false });
    const hostile = 'a\u001B[2Jb\u009B31m\u202Ec\u0007';
    face.say(hostile.slice(0, 2));
    face.say(hostile.slice(2));
    face.endSaying();
    face.print({ kind: 'line', text: hostile, tone: 'error' });
    face.print({ kind: 'prompt', text: hostile, attached: [hostile] });
    face.print({ kind: 'verbatim', lines: [{ text: hostile, tone: 'warning' }] });
    face.setDraft(hostile);
    face.show({ ...IDLE, question: { ...QUESTION, text: hostile } });
    await terminal.shows('Your choice');
    const shown = 'a\\x1b[2Jb\\x9b31m\\u202ec\\x07';
    expect((await terminal.lines()).filter((line) => line.includes(shown))).toHaveLength(7);
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    expect(terminal.bytes()).not.toMatch(/[\u001B\u0007\u009B\u202E]/u);
  });
});

describe('questions', () => {
  it('have numbered answers, by number, letter or word; others are asked again', async () => {
    const { face, terminal, inputs } = await open();
    face.show({ ...IDLE, busy: true, question: QUESTION });
    await terminal.shows('Your choice:');
    expect(await terminal.lines()).toEqual([
      'Write src/a.ts (+6 −2)?',
      '1 (y)es',
      '2 (n)o, keep the text',
      '3 (t)ell the model why not',
      'Your choice:',
    ]);
    terminal.type('perhaps\r');
    await terminal.shows('This is not one of the answers.');
    terminal.type('2\r');
    await until(() => expect(inputs).toEqual([{ type: 'answered', id: 1, value: 'n', text: '' }]));
    face.show({ ...IDLE, busy: true, question: { ...QUESTION, id: 2, preset: 'y' } });
    await terminal.shows('(Enter takes 1)');
    terminal.type('\r');
    await until(() => expect(inputs.at(-1)).toMatchObject({ id: 2, value: 'y' }));
  });

  it('ask for the text that an answer needs, or take it from the line', async () => {
    const { face, terminal, inputs } = await open();
    face.show({ ...IDLE, question: QUESTION });
    await terminal.shows('Your choice:');
    terminal.type('tell\r');
    await terminal.shows('Why not:');
    terminal.type('use tabs\r');
    await until(() =>
      expect(inputs).toEqual([{ type: 'answered', id: 1, value: 't', text: 'use tabs' }]),
    );
    face.show({ ...IDLE, question: { ...QUESTION, id: 2 } });
    await until(() => expect(terminal.bytes().split('Your choice')).toHaveLength(3));
    terminal.type('t no, use tabs\r');
    await until(() => expect(inputs.at(-1)).toMatchObject({ id: 2, text: 'no, use tabs' }));
  });

  it('are repeated behind what is said meanwhile, which begins a line', async () => {
    const { face, terminal, inputs } = await open();
    face.show({ ...IDLE, busy: true, question: QUESTION });
    await terminal.shows('Your choice:');
    face.say('I will ');
    face.say('cover it.');
    face.endSaying();
    face.print({ kind: 'line', text: 'Created a.md', tone: 'success' });
    await terminal.shows(/Created a.md\nYour choice:/u);
    terminal.type('t\r');
    await terminal.shows('Why not:');
    face.print({ kind: 'line', text: 'Created b.md', tone: 'success' });
    await terminal.shows(/Created b.md\nWhy not:/u);
    const question = [
      'Write src/a.ts (+6 −2)?',
      '1 (y)es',
      '2 (n)o, keep the text',
      '3 (t)ell the model why not',
      'Your choice:',
    ];
    expect(await terminal.lines()).toEqual([
      ...question,
      'I will cover it.',
      ...question,
      'Created a.md',
      'Your choice: t',
      'Why not:',
      'Created b.md',
      'Why not:',
    ]);
    terminal.type('tabs\r');
    await until(() => expect(inputs.at(-1)).toMatchObject({ value: 't', text: 'tabs' }));
    face.print({ kind: 'line', text: 'Created c.md', tone: 'success' });
    await terminal.shows(/Created c.md\s*$/u);
  });

  it('lists are numbered, narrowed down by typing, and can be left', async () => {
    const { face, terminal, inputs } = await open();
    const items = Array.from({ length: 30 }, (_, index) => ({
      value: `id-${index}`,
      label: `Conversation ${index}`,
      detail: index === 25 ? 'unfinished' : '',
    }));
    face.show({ ...IDLE, question: { kind: 'pick', id: 7, text: 'Conversations', items } });
    await terminal.shows('10 more: type a part of one.');
    terminal.type('unfin\r');
    await terminal.shows('1 Conversation 25  unfinished');
    terminal.type('1\r');
    await until(() =>
      expect(inputs).toEqual([{ type: 'answered', id: 7, value: 'id-25', text: '' }]),
    );
    face.show({ ...IDLE, question: { kind: 'pick', id: 8, text: 'Again', items } });
    await until(() => expect(terminal.bytes().split('0 None of these')).toHaveLength(4));
    terminal.type('0\r');
    await until(() => expect(inputs.at(-1)).toMatchObject({ id: 8, value: null }));
  });

  it('B18: what was typed before a question was shown does not answer it', async () => {
    const { face, terminal, inputs } = await open();
    face.show({ ...IDLE, busy: true });
    terminal.type('y');
    await terminal.shows('y');
    face.show({ ...IDLE, busy: true, question: QUESTION });
    terminal.type('\rand ano');
    await terminal.shows('Your choice:');
    expect(inputs).toEqual([{ type: 'submitted', text: 'y' }]);
    await terminal.shows('Not sent: and ano');
    terminal.type('n\r');
    await until(() => expect(inputs[1]).toMatchObject({ type: 'answered', value: 'n' }));
  });
});

it('gives the terminal to another program, which gets what is typed meanwhile', async () => {
  const { face, terminal, inputs } = await open();
  face.show(IDLE);
  let release = (): void => undefined;
  const lent = face.lend(
    () =>
      new Promise((resolve) => {
        release = resolve;
      }),
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(terminal.stdin.isPaused()).toBe(true);
  release();
  await lent;
  terminal.type('back\r');
  await until(() => expect(inputs).toEqual([{ type: 'submitted', text: 'back' }]));
});

it('ends although the terminal does not read', async () => {
  const { face, terminal } = await open();
  terminal.pause();
  for (let line = 0; line < 20_000; line += 1) face.say(`line ${line}\n`);
  await face.close();
  terminal.resume();
});
