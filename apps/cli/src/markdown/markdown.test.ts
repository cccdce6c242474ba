import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createAnswerText } from './answer-text.ts';
import { highlight } from './highlight.ts';
import { createMarkdown, type Markdown } from './markdown.ts';

/** Hazard: text of a model is shown as something else than it is, does something to the terminal, or takes forever. */

function markdown(columns = 80, colors = true): Markdown {
  return createMarkdown({
    columns: () => columns,
    colors,
    highlight: colors ? highlight : (lines) => lines,
  });
}

function rendered(text: string, columns = 80, colors = false): string {
  const each = markdown(columns, colors);
  return each.push(text) + each.end();
}

// oxlint-disable-next-line no-control-regex -- the marks of colours
const MARKS = /\u001B\[[\d;]*m/gu;
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202E]/u;
/** Words and marks that mean something, put together by chance. */
const anything = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\n',
        '\n\n',
        '---\n',
        '===\n',
        '|-|-|\n',
        '```ts\n',
        '    ',
        '\t',
        'http://a.b/c',
      ),
      fc.constantFrom(
        ...'- |1. |> |# |```|~~~|**|*|_|`|``|[a](b)|](|<b>|<!--|\\|&lt;|~~|[x] '.split('|'),
        '|',
      ),
      fc.constantFrom(
        '\u0000',
        '\u001B[2J',
        '\u009B31m',
        '\u202E',
        '日本',
        '\u{1F468}\u200D\u{1F469}',
        '&#27;',
      ),
      fc.string({ maxLength: 8 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

describe('what is said', () => {
  it('is rendered block by block, in colours', () => {
    const source = [
      '# Install **it**',
      'Run `npm i` and [read](https://example.com/a) *this*: ~~not~~ &lt;that&gt; \\*.',
      '- one\n- two\n  - nested\n- [x] done',
      '3. three\n4. four',
      '> quoted\n> twice',
      '| name | bytes |\n|---|---|\n| **a** | 10 |\n| long name | 2 |',
      '---',
      'https://example.org',
    ].join('\n\n');
    expect(rendered(source, 80, true).replaceAll('\u001B', '')).toBe(
      `[1mInstall[0m [1m[1mit[0m

Run [36mnpm i[0m and [4mread[0m (https://example.com/a) [3mthis[0m: [9mnot[0m <that> *.

• one
• two
  • nested
• [x] done

3. three
4. four

[2m│[0m quoted
[2m│[0m twice

name       bytes
─────────  ─────
[1ma[0m          10
long name  2

────────────────────────────────────────

[4mhttps://example.org[0m
`,
    );
  });

  it('keeps its marks where there are no colours', () => {
    expect(rendered('## Title\n\nSome **bold**, *slanted* and `code`.\n\n> quoted\n')).toBe(
      '## Title\n\nSome **bold**, *slanted* and `code`.\n\n> quoted\n',
    );
  });

  it('is wrapped between words, at most at 100 columns; a long word and code are not broken', () => {
    const path = `/${'folder/'.repeat(20)}file`;
    const text = `${'word '.repeat(60)}${path} \`${'c o d e '.repeat(20)}\` end`;
    const lines = rendered(`${text}\n`, 200).trimEnd().split('\n');
    expect(lines).toContain(path);
    expect(lines.filter((line) => line.length > 100)).toHaveLength(2);
    expect(lines.join(' ')).toBe(text);
    expect(rendered('日本 '.repeat(30), 40).split('\n')[0]).toBe('日本 '.repeat(8).trimEnd());
  });
});

describe('blocks in blocks', () => {
  it('are apart where they were, and what is nested is narrower', () => {
    const source = [
      '1. First\n\n   More of it.\n   - tight\n   - list\n2. Second',
      'After the list.',
      `> ${'quoted '.repeat(6)}`,
      '> ```sh\n> ls\n> ```',
      '- - loose\n\n  - nested',
      'Line <br> &#65; <b>html</b>',
    ].join('\n\n');
    expect(rendered(source, 30)).toBe(
      `1. First

   More of it.
   • tight
   • list
2. Second

After the list.

> quoted quoted quoted quoted
> quoted quoted

> 
ls

• • loose

  • nested

Line <br> &#65; <b>html</b>
`,
    );
  });

  it('a table that is too wide is as it was written; the head of a long one is said once', () => {
    const wide = `| a | b |\n|---|---|\n| ${'x'.repeat(30)} | y |`;
    expect(rendered(wide, 30)).toBe(`${wide}\n`);
    expect(rendered('| a | b |\n|---|---|\n| x | y |\n| z |\n')).toBe('a  b\n─  ─\nx  y\nz\n');
    const long = `| head | b |\n|---|---|\n${'| one | two |\n'.repeat(1000)}`;
    const lines = rendered(long).trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('head'))).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith('one'))).toHaveLength(1000);
    expect(lines).toHaveLength(1002);
  });

  it('an item that is long goes on as what it was', () => {
    const lines = rendered(`- a\n${'  - nested item\n'.repeat(600)}`)
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(601);
    expect(lines.filter((line) => line.trim() === '• nested item')).toHaveLength(600);
  });

  it('a line without an end is cut between words', () => {
    const each = markdown();
    const text = 'word '.repeat(4000);
    const shown = each.push(text);
    expect(shown.length).toBeGreaterThan(10_000);
    expect((shown + each.end()).split(/\s+/u).filter((word) => word !== '')).toEqual(
      Array.from({ length: 4000 }, () => 'word'),
    );
  });
});

describe('code', () => {
  it('comes out as it is: not wrapped, indented or decorated, in a list either', () => {
    const line = `const text = "${'x'.repeat(200)}";`;
    const shown = rendered(
      `1. Do\n\n   \`\`\`js\n   ${line}\n     if (a) {\n   \`\`\`\n\n   then\n2. Go\n`,
    );
    expect(shown).toBe(`1. Do\n\n${line}\n  if (a) {\n\nthen\n\n2. Go\n`);
  });

  it('has the colours of its language, and nothing else', () => {
    const code = 'const a: number = 1; // one\n"two\\n"';
    const shown = rendered(`\`\`\`typescript\n${code}\n\`\`\`\n`, 80, true);
    expect(shown).toContain('\u001B[35mconst\u001B[0m');
    expect(shown.replaceAll(MARKS, '')).toBe(`${code}\n`);
    expect(rendered(`\`\`\`nonsense\n${code}\n\`\`\`\n`, 80, true)).toBe(`${code}\n`);
  });

  it('is the same text in every language, whatever it is', () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom('/*', '"', '`${', '<a>', "'", '#', '\\', '{{', '```x'),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(
          'ts',
          'js',
          'py',
          'html',
          'bash',
          'md',
          'yaml',
          'css',
          'rs',
          'sql',
          'diff',
          'x',
        ),
        fc.array(
          line.filter((each) => !/^\s*`{4,}\s*$/u.test(each)),
          { minLength: 1, maxLength: 20 },
        ),
        (language, lines) => {
          const code = lines.join('\n').replaceAll(/[^\n\u0020-\u007E]/gu, '?');
          const shown = rendered(`\`\`\`\`${language}\n${code}\n\`\`\`\`\n`, 80, true);
          expect(shown.replaceAll(MARKS, '')).toBe(`${code}\n`);
        },
      ),
    );
  });
});

it('gives the same however the text is cut, and never changes what it gave', () => {
  fc.assert(
    fc.property(anything, fc.array(fc.nat(30), { maxLength: 20 }), (text, cuts) => {
      const each = markdown(60);
      let at = 0;
      let shown = '';
      for (const cut of [...cuts, text.length]) {
        shown += each.push(text.slice(at, at + cut));
        at += cut;
      }
      expect(shown + each.end()).toBe(rendered(text, 60, true));
    }),
  );
});

it('B15: whatever the text is and however it is cut, only colours of ours reach the terminal', async () => {
  await fc.assert(
    fc.asyncProperty(anything, fc.boolean(), fc.nat(40), async (text, colors, cut) => {
      const answer = createAnswerText({ columns: () => 60, colors });
      const shown = (await answer.push(text.slice(0, cut))) + (await answer.push(text.slice(cut)));
      const open = answer.open();
      const all = shown + open + answer.end();
      expect(all.replaceAll(colors ? MARKS : '', '')).not.toMatch(CONTROL);
    }),
  );
});

describe('a long text', () => {
  it.each([
    ['a paragraph', '', 'a line of prose Q that goes on\n'],
    ['an open fence', '```ts\n', 'const Q = "x"; // one\n'],
    ['a line without an end', '', 'words Q that go on and on '],
    ['an item with others in it', '- a\n', '  - nested item Q\n'],
    ['a table', '| a | b |\n|---|---|\n', '| one | Q two |\n'],
  ])('is given as it arrives: %s', (_, begin, line) => {
    const each = markdown();
    const count = (text: string): number => text.split('Q').length - 1;
    let given = count(each.push(begin));
    for (let arrived = 50; arrived <= 5000; arrived += 50) {
      given += count(each.push(line.repeat(50)));
      expect((arrived - given) * line.length).toBeLessThan(20_000);
    }
    expect(each.open().length).toBeLessThanOrEqual(2000);
  });

  it.each([
    ['prose', 'some *words* of `prose` that go on\n'],
    ['emphasis that is never closed', '*a **b _c ~~d '],
    ['brackets', '[a]('],
    ['code in a fence', '```js\nconst a = `"\'/*\n```\n'],
    ['a line of code', 'a("b");'],
  ])('takes time in proportion to its length: %s', (name, part) => {
    const time = (length: number): number => {
      const begin = name === 'a line of code' ? '```js\n' : '';
      const text = begin + part.repeat(Math.ceil(length / part.length));
      const before = process.cpuUsage();
      rendered(text, 80, true);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    time(8000);
    const short = time(8000);
    // Eight times the text; quadratic, it would take 64 times as long.
    expect(time(64_000)).toBeLessThan(30 * Math.max(10, short));
  });
});
