// @module-tag long
import type { Script, Shape } from '@orion/llm-adapters/scripted';
import { describe, expect } from 'vitest';

import { beginCall, LAST_WORD, sha256 } from './support/scripts.ts';
import { test } from './support/test.ts';

const ARABIC = 'هذه وثيقة طويلة تُكتب من اليمين إلى اليسار، وفيها أرقام ١٢٣ و\u200f(أقواس).';
const CJK = '这是一份很长的文件。日本語の文章と「括弧」、한국어 문장, 𠀀𪛖 も含む。';
const EMOJI = '👩‍👩‍👧‍👦 🏳️‍🌈 🧑🏽‍🚀 e\u0301 ﷽ \u{1f1e9}\u{1f1ea} — “quotes”…';

function lines(count: number, ending: string, text: (number: number) => string): string {
  return Array.from({ length: count }, (_, index) => text(index + 1) + ending).join('');
}

type Document = {
  readonly name: string;
  readonly text: string;
  /** Instead of the usual ones. */
  readonly shapes?: readonly Shape[];
};

const DOCUMENTS: readonly Document[] = [
  { name: 'CRLF', text: lines(120, '\r\n', (n) => `line ${n} of a file from Windows`) },
  {
    name: 'mixed endings',
    text:
      lines(90, '', (n) => `line ${n}${['\n', '\r\n', '\r', '\u2028', '\u0085\n'][n % 5]}`) + '\n',
  },
  { name: 'a byte order mark', text: `\ufeff${lines(40, '\r\n', (n) => `;entry ${n}`)}` },
  { name: 'no final newline', text: `${lines(40, '\n', (n) => `row ${n}`)}the last row` },
  { name: 'no final newline after CRLF', text: `${lines(40, '\r\n', (n) => `row ${n}`)}the last` },
  { name: 'CJK', text: lines(60, '\n', (n) => `${n}. ${CJK}`) },
  { name: 'Arabic', text: lines(60, '\n', (n) => `${ARABIC} ${n}`) },
  { name: 'emoji', text: lines(60, '\n', (n) => `${EMOJI.repeat((n % 3) + 1)} ${n}`) },
  {
    name: 'lines that read DONE',
    text: lines(40, '\n', (n) => (n % 9 === 0 ? 'DONE' : `${n}: if ready then echo DONE`)),
  },
  {
    name: 'blanks that other tools strip',
    text: lines(40, '\n', (n) => `${'\t'.repeat(n % 4)}x${' '.repeat(n % 5)}`) + '\n\n \n\t\n',
  },
  {
    name: 'a line of a megabyte',
    text: `const data = "${'0123456789abcdef'.repeat(65_536)}";\n`,
    shapes: [{ chunk: 900 }, { chunk: 65_536, bytes: { min: 1, max: 70_000 } }],
  },
];

const SHAPES: readonly Shape[] = [
  { chunk: 1 },
  { chunk: { min: 1, max: 60 }, splitSurrogates: true, bytes: { min: 1, max: 300 } },
  { chunk: 4096, bytes: 1000 },
];

function scriptOf(document: Document, shape: Shape, target: string): Script {
  return {
    shape,
    behaviours: [
      {
        name: 'document',
        reply: {
          document: { target, content: { kind: 'text', text: document.text } },
        },
      },
      beginCall({ target_file: target, final_newline: document.text.endsWith('\n') }),
      LAST_WORD,
    ],
  };
}

describe('R248, A17: a document is on the disk as it was streamed', () => {
  for (const [row, document] of DOCUMENTS.entries()) {
    for (const [index, shape] of (document.shapes ?? SHAPES).entries()) {
      // Each document in one shape, and all of them in each.
      const isShare = index === row % (document.shapes ?? SHAPES).length;
      const tags = isShare ? [] : ['long'];
      test.concurrent(`${document.name}, shape ${index}`, { tags }, async ({ machine }) => {
        const expected = Buffer.from(document.text);
        const provider = await machine.provider(scriptOf(document, shape, 'file.txt'));
        const ended = await machine.ask(provider, ['--json']);
        expect(ended.exitCode, ended.stderr).toBe(0);
        const bytes = await machine.read('file.txt');
        expect(bytes.equals(expected), `${bytes.length} of ${expected.length} bytes`).toBe(true);
        expect(ended.result().receipts).toMatchObject([
          {
            bytes: expected.length,
            sha256: sha256(expected),
            bom: document.text.startsWith('\ufeff'),
            warnings: [],
            not_kept: [],
          },
        ]);
      });
    }
  }
});

describe('R248: what is streamed fits into the existing file', () => {
  test.concurrent.for([
    ['append', 'first\r\nsecond\r\n', 'third\nfourth\n', 'first\r\nsecond\r\nthird\r\nfourth\r\n'],
    ['overwrite', '\ufefffirst\r\n', 'second\nthird\n', '\ufeffsecond\r\nthird\r\n'],
    ['append', 'no newline', 'added\n', 'no newlineadded\n'],
    ['append', 'mixed\r\nlf\n', 'added\n', 'mixed\r\nlf\nadded\n'],
  ] as const)('%s to %j', async ([operation, before, text, after], { machine }) => {
    await machine.write('a.txt', before);
    const behaviours = [
      { name: 'text', when: { toolChoice: 'none' as const }, reply: { text: `${text}DONE` } },
      beginCall({ target_file: 'a.txt', operation }),
      LAST_WORD,
    ];
    const provider = await machine.provider({ shape: { chunk: 3 }, behaviours });
    const ended = await machine.ask(provider, ['--json']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('a.txt'))).toBe(after);
    expect(ended.result().receipts[0]?.sha256).toBe(sha256(after));
    await machine.run(['undo']);
    expect(String(await machine.read('a.txt'))).toBe(before);
  });
});
