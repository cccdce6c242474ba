import { describe, expect, test } from 'vitest';
import { appendToSummary, createSummary } from './content-summary.ts';
import { decideFences, fencesAtEnd, noFences, type FencePolicy } from './fence-decision.ts';
import { readMessage } from './testing/read-message.ts';
import { unitsOf } from './testing/splits.ts';
import type { TargetKind } from './target-kind.ts';

/** What would be left of the content, by bytes. */
function decide(
  text: string,
  kind: TargetKind,
  policy: FencePolicy = 'auto',
  target = kind === 'code' ? 'src/notes.py' : 'docs/notes',
) {
  let summary = createSummary();
  for (const unit of unitsOf(text)) summary = appendToSummary(summary, unit);
  const decision = decideFences(summary, kind, policy, target);
  if (decision.kind === 'keep') return 'keep';
  const inner = Buffer.from(text).subarray(decision.contentStart, decision.contentEnd);
  return [decision.kind, inner.toString()];
}

test('A2: session 2', () => {
  const result = readMessage(['```python\nx = 1\n```\nDONE']);
  expect(result.ending.kind).toBe('terminal');
  expect(decideFences(result.summary, 'code', 'auto', 'x.py')).toEqual({
    kind: 'strip',
    contentStart: 10,
    contentEnd: 16,
  });
});

describe('R032 (1): code and data, fences around everything', () => {
  test.each([
    ['LF', '```python\nx = 1\n```\n', 'x = 1\n'],
    ['CRLF', '```python\r\nx = 1\r\n```\r\n', 'x = 1\r\n'],
    ['no final line ending', '```\né\n```', 'é\n'],
    ['blank lines around', '\n\n```\nx\n\n```\n\n \n', 'x\n\n'],
    ['tildes', '~~~sh\nx\n~~~\n', 'x\n'],
    [
      'inner fences that pair up',
      '```py\n"""\n```js\ny\n```\n"""\n```\n',
      '"""\n```js\ny\n```\n"""\n',
    ],
    ['shorter inner fences', '````md\n```\ny\n```\n````\n', '```\ny\n```\n'],
    ['heading underlines inside', '```rst\nTitle\n~~~~~\n```\n', 'Title\n~~~~~\n'],
  ])('are stripped: %s', (_name, text, inner) => {
    expect(decide(text, 'code')).toEqual(['strip', inner]);
  });

  test.each([
    ['an inner fence is left over', '```py\n```js\ny\n```\n', '```js\ny\n'],
    ['two blocks', '```py\na\n```\nb\n```py\nc\n```\n', 'a\n```\nb\n```py\nc\n'],
    ['never closed', '```py\na\n', 'a\n'],
    ['never closed, one line', '```py', ''],
    ['nothing between them (F3)', '```py\n\n```\n', '\n'],
  ])('are asked about: %s (4)', (_name, text, inner) => {
    expect(decide(text, 'code')).toEqual(['question', inner]);
  });

  test.each([
    ['no fence', 'x = 1\n'],
    ['nothing', ''],
    ['blanks', '\n \n'],
    ['a fence within', '/*\n```\nx\n```\n*/\n'],
    ['code after it', '```py\nx\n```\ny = 2\n'],
  ])('are kept: %s', (_name, text) => {
    expect(decide(text, 'code')).toBe('keep');
  });
});

describe('R032 (2): code and data, two fences and a few chat lines', () => {
  test.each([
    ['before', 'Here it is:\n```py\nx\n```\n', 'x\n'],
    ['two before, three after', 'Sure!\n\nHere:\n```py\nx\n```\nIt works.\nTry it.\nBye!\n', 'x\n'],
    ['after', '```py\nx\n```\n\nThat is all.', 'x\n'],
  ])('the outside is stripped: %s', (_name, text, inner) => {
    expect(decide(text, 'code')).toEqual(['strip', inner]);
  });

  test.each([
    ['three before', 'A.\nB.\nC.\n```py\nx\n```\n'],
    ['four after', '```py\nx\n```\nA.\nB.\nC.\nD.\n'],
    ['code before', 'import x\n```py\nx\n```\n'],
    ['code after', 'Here:\n```py\nx\n```\ny = 2\n'],
    ['not closed', 'Here:\n```py\nx\n'],
  ])('nothing happens: %s', (_name, text) => {
    expect(decide(text, 'code')).toBe('keep');
  });

  test('more than two fences: asked about', () => {
    const text = 'Here:\n```py\n```js\ny\n```\n```\nBye.\n';
    expect(decide(text, 'code')).toEqual(['question', '```js\ny\n```\n']);
  });
});

describe('R032 (2): a name that does not say what the file is', () => {
  const decideUnlisted = (text: string) => decide(text, 'code', 'auto', 'settings.x');

  test.each([
    ['before', 'Run the checks:\n\n```bash\nnpm test\n```\n', 'npm test\n'],
    ['after', '```bash\nnpm test\n```\nNever push to main.\n', 'npm test\n'],
  ])('lines around one block are asked about: %s', (_name, text, inner) => {
    expect(decideUnlisted(text)).toEqual(['question', inner]);
  });

  test.each([
    ['it wraps everything', '```bash\nnpm test\n```\n'],
    ['it is announced', 'Here is the file:\n\n```bash\nnpm test\n```\nThat is all.\n'],
  ])('the fence is stripped: %s', (_name, text) => {
    expect(decideUnlisted(text)).toEqual(['strip', 'npm test\n']);
  });
});

describe('R032 (3): Markdown', () => {
  test.each(['markdown', 'md', 'mdx', 'Markdown', 'md title="x"'])('%s is stripped', (info) => {
    const text = `\`\`\`${info}\n# x\n\`\`\`js\ny\n\`\`\`\n\`\`\`\n`;
    expect(decide(text, 'markdown')).toEqual(['strip', '# x\n```js\ny\n```\n']);
  });

  test.each([
    ['another info', '```js\nx\n```\n', 'x\n'],
    ['no info', '```\nx\n```\n', 'x\n'],
    ['a fence within it at the end', '```md\n```js\nx\n```\n', '```js\nx\n```\n'],
    ['inner fences that do not pair up', '```md\n```js\nx\n```sh\n', '```js\nx\n'],
    [
      'inner fences that can be read in two ways',
      '```md\n# x\n```\ny\n```\nz\n```\n',
      '# x\n```\ny\n```\nz\n',
    ],
    ['never closed', '```js\nx\n', 'x\n'],
    ['a listing that is open at the end', '```sh\nx\n```\ny\n```\n', 'x\n```\ny\n'],
    ['chat before a Markdown fence', 'Here it is:\n```md\n# x\n```\n', '# x\n'],
  ])('is asked about: %s (4)', (_name, text, inner) => {
    expect(decide(text, 'markdown')).toEqual(['question', inner]);
  });

  test.each([
    ['a sentence and a listing', 'Run:\n```sh\nx\n```\n'],
    ['a listing and text', '```sh\nx\n```\nThat is all.\n'],
    ['two listings', '```sh\nx\n```\nThen:\n```sh\ny\n```\n'],
    ['two listings without info', '```\nx\n```\nThen:\n```\ny\n```\n'],
    ['a listing within', '# x\n```sh\nx\n```\nText\n'],
  ])('is kept: %s', (_name, text) => {
    expect(decide(text, 'markdown')).toBe('keep');
  });
});

describe('R032 (4): other prose', () => {
  test('is never stripped without asking', () => {
    expect(decide('```\nx\n```\n', 'prose')).toEqual(['question', 'x\n']);
    expect(decide('```\nx\n', 'prose')).toEqual(['question', 'x\n']);
    expect(decide('Sure!\nHere:\n```text\nx\n```\n', 'prose')).toEqual(['question', 'x\n']);
  });

  test.each([
    ['three lines before', 'A.\nB.\nC.\n```\nx\n```\n'],
    ['text after', 'Here:\n```\nx\n```\nBye.\n'],
    ['no chat before', 'here\n```\nx\n```\n'],
    ['headings with underlines', 'Title\n~~~~~\n\ntext\n\nOther\n~~~~~\n'],
  ])('is kept: %s', (_name, text) => {
    expect(decide(text, 'prose')).toBe('keep');
  });
});

describe('a lead announces the fence behind it (R271)', () => {
  const LEAD = 'Sure, here is the file:\n\n';
  const quoted = (info: string) => `${LEAD}\`\`\`${info}\n# x\n\`\`\`js\ny\n\`\`\`\n\`\`\`\n`;
  const inner = '# x\n```js\ny\n```\n';

  test.each<[string, TargetKind, string, string]>([
    ['in Markdown, with any info', 'markdown', quoted('text'), inner],
    ['in Markdown, without', 'markdown', quoted(''), inner],
    ['in Markdown, of two lines', 'markdown', `Great question!\n\n${quoted('')}`, inner],
    ['in Markdown, open at the end', 'markdown', `${LEAD}\`\`\`\n# x\n`, '# x\n'],
    ['in Markdown, with chat behind it', 'markdown', `${quoted('md')}\nBye.\n`, inner],
    [
      'in Markdown, in two ways',
      'markdown',
      `${LEAD}\`\`\`md\n\`\`\`\n\ny\n\`\`\`\n`,
      '```\n\ny\n',
    ],
    ['in small letters', 'prose', 'here is x:\n```\nx\n```\n', 'x\n'],
    ['open at the end, on code', 'code', `${LEAD}\`\`\`py\nx\n`, 'x\n'],
    ['without text, on code', 'code', `${LEAD}\`\`\`py`, ''],
    [
      'two blocks, on code',
      'code',
      `${LEAD}\`\`\`\na\n\`\`\`\nb\n\`\`\`\nc\n\`\`\``,
      'a\n```\nb\n```\nc\n',
    ],
  ])('and both are asked about: %s', (_name, kind, text, between) => {
    expect(decide(text, kind)).toEqual(['question', between]);
  });

  test.each<[string, TargetKind, string]>([
    ['text behind a listing', 'markdown', `${quoted('sh')}Then run it.\n`],
    [
      'a listing first and one last',
      'markdown',
      `${LEAD}\`\`\`sh\na\n\`\`\`\nThen:\n\`\`\`sh\nb\n\`\`\`\n`,
    ],
    ['text between', 'markdown', `${LEAD}# x\n\`\`\`\ny\n\`\`\`\n`],
  ])('but not: %s', (_name, kind, text) => {
    expect(decide(text, kind)).toBe('keep');
  });

  test('on code two fences with a lead are still stripped', () => {
    expect(decide(`${LEAD}\`\`\`py\nx\n\`\`\`\n`, 'code')).toEqual(['strip', 'x\n']);
  });
});

test('the question quotes the first and the last line', () => {
  const summary = appendToSummary(createSummary(), '```js  \nx\n```');
  expect(decideFences(summary, 'markdown', 'auto', 'x.md')).toEqual({
    kind: 'question',
    contentStart: 8,
    contentEnd: 10,
    firstLine: '```js',
    lastLine: '```',
  });
});

test.each<[string, string, string]>([
  ['a fence within it ends the text', '```\n```sh\nx\n```\n', '```sh\nx\n```\n'],
  ['its closing line was cut off', '```\nx\n``', 'x\n'],
  ['a line begins as it would', '```\nx\n``y', 'x\n``y'],
  ['the text ends', '~~~\nx\n``', 'x\n``'],
  ['another one opens', '```\nx\n```sh\n', 'x\n'],
])(
  'R032: of a first fence that stays open, where %s, only itself and its end go',
  (_, text, inner) => {
    const summary = appendToSummary(createSummary(), text);
    const decision = decideFences(summary, 'markdown', 'auto', 'a.md');
    expect(decision.kind).toBe('question');
    if (decision.kind !== 'question') return;
    expect(text.slice(decision.contentStart, decision.contentEnd)).toBe(inner);
  },
);

test('WRITE_SESSION_STRIP_FENCE=never keeps everything', () => {
  expect(decide('```py\nx\n```\n', 'code', 'never')).toBe('keep');
});

describe('R033: the fence that encloses the content', () => {
  const enclosing = (text: string, kind: TargetKind) =>
    fencesAtEnd(appendToSummary(createSummary(), text), kind, 'auto').enclosing?.info ?? null;

  test('is the first line’s, while it is open', () => {
    expect(enclosing('```py\nx\n', 'code')).toBe('py');
    expect(enclosing('Here:\n```py\nx\n', 'code')).toBe('py');
    expect(enclosing('```py\nx\n', 'markdown')).toBeNull();
    expect(enclosing('```md\nx\n', 'markdown')).toBe('md');
    expect(enclosing('```py\nx\n```\n```py\ny\n', 'code')).toBeNull();
    expect(enclosing('```py\n```js\ny\n', 'code')).toBeNull();
    expect(enclosing('x\n```py\ny\n', 'code')).toBeNull();
  });

  test('is one of those that are open', () => {
    const summary = appendToSummary(createSummary(), 'x\n```md\n```js\n');
    expect(fencesAtEnd(summary, 'code', 'auto').open.map((fence) => fence.info)).toEqual([
      'md',
      'js',
    ]);
    expect(fencesAtEnd(createSummary(), 'code', 'auto')).toEqual(noFences);
  });

  test.each<[string, boolean]>([
    ['x\n```\n', true],
    ['```sh\nx\n```\n```\n', true],
    ['```\n```sh\nx\n```\n', false],
    ['x\n```\nDONE\n', true],
    ['```\nx\ny\n', false],
    ['x\n', false],
  ])('R021: %j has opened the innermost at its end: %j', (text, opens) => {
    const summary = appendToSummary(createSummary(), text);
    expect(fencesAtEnd(summary, 'markdown', 'auto').isFresh).toBe(opens);
  });
});
