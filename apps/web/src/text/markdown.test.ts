import fastCheck from 'fast-check';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';

import { Markdown } from '../ui/markdown.tsx';
import { blocksOf, drawBlock, levelsBefore, TAGS } from './markdown.ts';
import type { MarkdownElement, MarkdownNode } from './markdown.ts';

/** Hazard: text of a model becomes markup, a request or a link that is not what it says (B17, W2), or takes seconds. */

/** The generators of fast-check take seconds to be made. */
const codePoint = fastCheck
  .integer({ min: 0, max: 0x10ffff })
  .map((code) => String.fromCodePoint(code));

const piece = fastCheck.oneof(
  fastCheck.string({ unit: codePoint, maxLength: 8 }),
  fastCheck.constantFrom(
    '<img src=x onerror=alert(1)>',
    '<script>',
    '</script>',
    '<!--',
    '<a href="javascript:1">',
    '&lt;',
    '<svg/onload=1>',
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:1)',
    '[a](\tjavascript:1)',
    '[a](data:text/html,1)',
    '[a](//evil)',
    '[a](/x)',
    '![a](https://evil.example/?q=1)',
    '[a](https://x.example)',
    '[https://a.example](https://b.example)',
    '<https://c.example>',
    '[r]',
    '[r]: javascript:1',
    '![',
    '](',
    '**',
    '*',
    '__',
    '~~',
    '`',
    '```',
    '~~~',
    '|',
    '|-|-|',
    '> ',
    '- ',
    '1. ',
    '# ',
    '\n',
    '\n\n',
    '\t',
    '    ',
    '\\',
    '---',
    '===',
    '- [x] ',
    '\0',
    '\u202e',
    '\u{e0041}',
    'javascript:',
    'www.a.example',
  ),
);
const source = fastCheck.array(piece, { maxLength: 30 }).map((parts) => parts.join(''));

function elements(nodes: readonly MarkdownNode[]): MarkdownElement[] {
  return nodes.flatMap((node) =>
    typeof node === 'string' ? [] : [node, ...elements(node.children)],
  );
}

function textIn(nodes: readonly MarkdownNode[]): string {
  return nodes.map((node) => (typeof node === 'string' ? node : textIn(node.children))).join('');
}

const draw = (text: string): MarkdownNode[] => blocksOf(text).flatMap((block) => drawBlock(block));

describe('Markdown of a model', () => {
  it('has no element and no attribute outside the lists', () => {
    const fields = new Set(['tag', 'children', 'href', 'start', 'align', 'isHost']);
    fastCheck.assert(
      fastCheck.property(source, (text) => {
        for (const element of elements(draw(text))) {
          expect(TAGS).toContain(element.tag);
          for (const field of Object.keys(element)) expect(fields).toContain(field);
          expect(element.href === undefined).toBe(element.tag !== 'a');
          expect(element.start === undefined || Number.isInteger(element.start)).toBe(true);
          if (element.href !== undefined)
            expect(element.href).toMatch(/^(?:https?:\/\/[^/]|mailto:)/u);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is drawn without any other element, attribute or address', () => {
    const drawn = new Set<string>([...TAGS, 'div', 'button']);
    const named = new Set(['href', 'rel', 'target', 'start', 'class', 'dir', 'type', 'tabindex']);
    fastCheck.assert(
      fastCheck.property(source, (text) => {
        const html = renderToStaticMarkup(createElement(Markdown, { text }));
        // In a text and in the value of an attribute, these marks are escaped.
        for (const [, tag = '', attributes = ''] of html.matchAll(/<\/?([^\s/>]*)([^>]*)>/gu)) {
          expect(drawn).toContain(tag);
          for (const [, name = '', value = ''] of attributes.matchAll(/([^\s=]+)="([^"]*)"/gu)) {
            expect(named).toContain(name);
            if (name === 'href') expect(value).toMatch(/^(?:https?:\/\/[^/]|mailto:)/u);
          }
          expect(attributes.replaceAll(/ [^\s=]+="[^"]*"/gu, '')).toMatch(/^\/?$/u);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('is cut into blocks that are the text, and stay while text is added', () => {
    fastCheck.assert(
      fastCheck.property(source, source, (text, more) => {
        const blocks = blocksOf(text);
        expect(blocks.join('\n')).toBe(text);
        expect(blocksOf(text + more).slice(0, blocks.length - 1)).toEqual(blocks.slice(0, -1));
      }),
      { numRuns: 500 },
    );
  });

  it('shows HTML as it was written', () => {
    const html = '<img src=x onerror=alert(1)> and <b>bold</b>';
    expect(textIn(draw(html))).toBe(html);
    expect(elements(draw(html)).map(({ tag }) => tag)).toEqual(['p']);
    expect(textIn(draw(`<div>\n${html}\n</div>`))).toBe(`<div>\n${html}\n</div>`);
  });

  it('shows where a link leads, unless its text says that', () => {
    expect(textIn(draw('[bank](https://evil.example/a)'))).toBe('bank (evil.example)');
    expect(textIn(draw('[https://bank.example](https://evil.example)'))).toContain(
      '(evil.example)',
    );
    expect(textIn(draw('<https://a.example/b>'))).toBe('https://a.example/b');
    expect(textIn(draw('[mail](mailto:a@b.example)'))).toBe('mail (a@b.example)');
    expect(textIn(draw('[x](javascript:alert(1))'))).toBe('[x](javascript:alert(1))');
  });

  it('fetches no image', () => {
    expect(draw('![a](https://evil.example/?q=secret)')).toEqual([
      {
        tag: 'p',
        children: [
          { tag: 'a', href: 'https://evil.example/?q=secret', children: ['[image: a]'] },
          { tag: 'span', isHost: true, children: [' (evil.example)'] },
        ],
      },
    ]);
  });

  it('draws lists, tables, code and quotes', () => {
    const tags = (text: string): string =>
      elements(draw(text))
        .map(({ tag }) => tag)
        .join(' ');
    expect(tags('3. a\n\n4. b\n   - c')).toBe('ol li p li p ul li');
    expect(elements(draw('3. a\n4. b'))[0]?.start).toBe(3);
    expect(tags('|a|b|\n|-|:-:|\n|1|2|')).toBe('table thead tr th th tbody tr td td');
    expect(tags('```js\n<b>\n\n**x**\n```')).toBe('pre code');
    expect(textIn(draw('```js\n<b>\n\n**x**\n```'))).toBe('<b>\n\n**x**');
    expect(tags('> a\n> **b**')).toBe('blockquote p strong');
    expect(tags('# a\n\nb\n\n---')).toBe('h2 p hr');
    expect(textIn(draw('- [x] a\n- [ ] b'))).toBe('☑ a☐ b');
  });

  it('has headings of which none skips a level, in one block and over several', () => {
    const levels = (text: string): string => {
      const sources = blocksOf(text);
      const before = levelsBefore(sources);
      const all = (nodes: readonly MarkdownNode[]): string[] =>
        nodes.flatMap((node) =>
          typeof node === 'string'
            ? []
            : [...(/^h\d$/u.exec(node.tag) ?? []), ...all(node.children)],
        );
      return sources.flatMap((source, index) => all(drawBlock(source, before[index]))).join(' ');
    };
    expect(levels('# a\n\n## b\n\n### c\n\n# d')).toBe('h2 h3 h4 h2');
    expect(levels('### a\n\n###### b\n\n## c')).toBe('h2 h3 h3');
    expect(levels('# a\n### b\n\n###### c')).toBe('h2 h3 h4');
    expect(levels('a\n===\n\n#### b\n\nc\n---\n\n### d')).toBe('h2 h3 h3 h4');
    expect(levels('> # a\n> ## b\n\n#### c')).toBe('h2 h3 h4');
    expect(levels('a\n  ===  \n\n-\t# b\n\n#### c')).toBe('h2 h2 h3');
    // Neither of these is a heading.
    expect(levels('```\n# a\n```\n\n---\n\n### b')).toBe('h2');
  });

  it.each([
    ['quotes', '> '.repeat(3000)],
    ['marks', '*a **b '.repeat(3000)],
    ['brackets', '['.repeat(10_000)],
    ['links', '[a](<b'.repeat(3000)],
    ['code marks', '`a``'.repeat(3000)],
    ['one long word', 'a'.repeat(200_000)],
    ['addresses', 'www.a.b'.repeat(3000)],
    ['mail', 'a@'.repeat(9000)],
    ['pipes', `${'|a'.repeat(2000)}\n${'|-'.repeat(2000)}\n`.repeat(4)],
    ['list items', '- a\n'.repeat(3000)],
    ['blank lines', '\n'.repeat(100_000)],
    ['backslashes', '\\'.repeat(19_000)],
    ['blanks in a line', `text\n${' '.repeat(100_000)}x`],
    ['blanks behind a mark', `-${' '.repeat(100_000)}`],
    ['marks of lists', `${'- '.repeat(9_000)}x`],
    ['exclamation marks', '!'.repeat(19_000)],
    ['what may become an address', `${'a-'.repeat(9_000)}@`],
    ['many that may become one', `${'a-'.repeat(990)}@ `.repeat(9)],
  ])('takes less than half a second of the processor for %s', (_name, text) => {
    const before = process.cpuUsage();
    expect(textIn(draw(text)).length).toBeGreaterThanOrEqual(0);
    expect(levelsBefore(blocksOf(text)).length).toBeGreaterThan(0);
    expect(process.cpuUsage(before).user).toBeLessThan(500_000);
  });
});
