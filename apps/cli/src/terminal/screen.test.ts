import { expect, it } from 'vitest';

import { createFakeOutput } from '../testing/fake-output.ts';
import { createScreen } from './screen.ts';

/** Hazard: lines that run into each other, or leave something behind that nobody wrote. */

function screen({ out = true, err = true, colors = false, columns = 20 } = {}) {
  const all: string[] = [];
  const output = (terminal: boolean, name: string) => {
    const fake = createFakeOutput({ terminal, columns });
    const write = (text: string | Uint8Array): undefined => {
      all.push(`${name}${JSON.stringify(String(text))}`);
      return fake.write(text) as undefined;
    };
    return { ...fake, write, offer: write, offerFrame: write };
  };
  const stdout = output(out, 'out');
  const stderr = output(err, 'err');
  return { all, shown: createScreen({ stdout, stderr, colors }) };
}

it('ends an open line of text before a line of its own, and no other', () => {
  const { all, shown } = screen();
  void shown.text('one\ntwo');
  shown.line('next');
  void shown.text('three\n');
  shown.block('a\nb\n', 'warning');
  expect(all).toEqual([
    'out"one\\ntwo"',
    'out"\\n"',
    'err"next\\n"',
    'out"three\\n"',
    'err"a\\n"',
    'err"b\\n"',
  ]);
});

it('hands text to what is no terminal exactly, and ends no line of it', () => {
  const { all, shown } = screen({ out: false });
  void shown.text('one \x1b[31m');
  shown.line('next');
  shown.endText();
  expect(all).toEqual(['out"one \\u001b[31m"', 'err"next\\n"']);
  expect([shown.stdoutIsTerminal, shown.showsProgress]).toEqual([false, true]);
});

it('does not break text on a terminal for lines that go elsewhere', () => {
  const { all, shown } = screen({ err: false });
  void shown.text('one');
  shown.line('next');
  shown.progress('working');
  void shown.text(' two');
  shown.endText();
  shown.endText();
  expect(all).toEqual(['out"one"', 'err"next\\n"', 'out" two"', 'out"\\n"']);
  expect([shown.stdoutIsTerminal, shown.showsProgress]).toEqual([true, false]);
});

it('replaces progress by what is wider or narrower, within the terminal, and wipes all of it', () => {
  const { all, shown } = screen({ columns: 11 });
  void shown.text('open');
  shown.progress('a wide progress');
  shown.progress('b\x1b');
  shown.line('done', 'success');
  shown.clearProgress();
  expect(all).toEqual([
    'out"open"',
    'out"\\n"',
    expect.stringMatching(/^err"\\ra wide [^"]*"$/u),
    expect.stringMatching(/^err"\\rb\\\\x1b +"$/u),
    `err${JSON.stringify(`\r${' '.repeat(10)}\r`)}`,
    'err"done\\n"',
  ]);
});

it('wipes progress before text, a question and what was rendered', () => {
  for (const act of ['text', 'ask', 'rendered'] as const) {
    const { all, shown } = screen();
    shown.progress('busy');
    void shown[act]('x');
    expect(all).toEqual(['err"\\rbusy"', 'err"\\r    \\r"', act === 'ask' ? 'err"x"' : 'out"x"']);
  }
});

it('ends a question that nobody has answered before the next line', () => {
  const { all, shown } = screen();
  void shown.text('open');
  shown.ask('Now?\x1b ');
  shown.line('withdrawn');
  shown.ask('Again? ');
  shown.answered();
  shown.line('yes');
  expect(all).toEqual([
    'out"open"',
    'out"\\n"',
    'err"Now?\\\\x1b "',
    'err"\\n"',
    'err"withdrawn\\n"',
    'err"Again? "',
    'err"yes\\n"',
  ]);
});

it('ends open text before what was rendered, and paints lines where there are colours', () => {
  const { all, shown } = screen({ colors: true });
  void shown.text('open');
  void shown.rendered('\x1b[1mbold\x1b[0m\n');
  shown.line('a\nb', 'error');
  expect(all).toEqual([
    'out"open"',
    'out"\\n"',
    'out"\\u001b[1mbold\\u001b[0m\\n"',
    expect.stringMatching(/^err"\\u001b\[31ma.+b\\u001b\[0m\\n"$/u),
  ]);
});
