import { describe, expect, test } from 'vitest';
import { decideFences } from '../fence-decision.ts';
import type { FenceLine } from '../lines.ts';
import { readMessage } from '../testing/read-message.ts';

const PYTHON: FenceLine = { character: '`', length: 3, info: 'python' };

describe('R033: DONE inside the fence that wraps the file', () => {
  test('is terminal, and the closing fence is content', () => {
    const result = readMessage(['```python\nx = 1\nDONE\n```\n']);
    expect(result.content).toBe('```python\nx = 1\n```\n');
    expect(result.ending).toMatchObject({ kind: 'terminal', marker: 'done', innerDoneLines: [] });
    expect(decideFences(result.summary, 'code', 'auto', 'x.py')).toEqual({
      kind: 'strip',
      contentStart: 10,
      contentEnd: 16,
    });
  });

  test('also without a final line ending, with blank lines, and opened by an earlier message', () => {
    const result = readMessage(['x = 1\nDONE\n\n```  '], { before: '```python\n' });
    expect(result.content).toBe('x = 1\n```  ');
    expect(result.ending.kind).toBe('terminal');
  });

  test('on a Markdown target only with a Markdown info', () => {
    const own = readMessage(['```md\n# x\nDONE\n```\n'], { kind: 'markdown' });
    expect(own.ending.kind).toBe('terminal');
    const other = readMessage(['```sh\necho\nDONE\n```\n'], { kind: 'markdown' });
    expect(other.content).toBe('```sh\necho\nDONE\n```\n');
    expect(other.ending).toMatchObject({
      kind: 'ambiguous',
      candidates: [{ line: 3, following: '```' }],
    });
  });

  test('R021: and behind a fence that closes another one, DONE is not the only line of a fence', () => {
    const inner = readMessage(['```\n```sh\nx\n```\nDONE\n```\n'], { kind: 'markdown' });
    expect(inner.ending).toMatchObject({
      kind: 'ambiguous',
      candidates: [{ line: 5, following: '```' }],
      nearMiss: null,
    });
    const own = readMessage(['```sh\nx\n```\n```\nDONE\n```\n'], { kind: 'markdown' });
    expect(own.ending).toMatchObject({ kind: 'near_miss', text: '```\nDONE\n```' });
  });

  test.each([
    ['no fence is open', 'x = 1\nDONE\n```\n'],
    ['an inner fence is open', '```python\n```js\ny\nDONE\n```\n'],
    ['text stands before the fence', 'x = 1\n```python\ny\nDONE\n```\n'],
    ['the fence does not close it', '````python\nx = 1\nDONE\n```\n'],
    ['text follows', '```python\nx = 1\nDONE\n```\ny\n'],
  ])('not when %s', (_name, message) => {
    const result = readMessage([message]);
    expect(result.content).toBe(message);
    expect(result.ending.kind).toBe('ambiguous');
  });

  test('not with WRITE_SESSION_STRIP_FENCE=never', () => {
    const result = readMessage(['```python\nx\nDONE\n```\n'], { policy: 'never' });
    expect(result.ending.kind).toBe('ambiguous');
  });

  test('is left out with its fence when the stream breaks (R031), and is content without one', () => {
    const broken = { orderly: false };
    expect(readMessage(['```python\nx\nDONE\n```\n'], broken).content).toBe('```python\nx\n');
    expect(readMessage(['x\nDONE\n```\n'], broken).content).toBe('x\nDONE\n```\n');
  });

  test('followed by DONE outside, belongs to the file', () => {
    const result = readMessage(['```python\nx\nDONE\n```\nDONE\n']);
    expect(result.content).toBe('```python\nx\nDONE\n```\n');
    expect(result.ending).toMatchObject({ kind: 'terminal', innerDoneLines: [3] });
  });

  test('with WRITE_SESSION_DONE_MODE=first', () => {
    const result = readMessage(['```python\nx\nDONE\n```\n'], { doneMode: 'first' });
    expect(result).toMatchObject({
      content: '```python\nx\n```\n',
      ending: { kind: 'terminal', setAside: '' },
    });
    const bare = readMessage(['x\nDONE\n```\n'], { doneMode: 'first' });
    expect(bare).toMatchObject({ content: 'x\n', ending: { kind: 'terminal', setAside: '```\n' } });
  });
});

describe('the closing line of a fence around the reply', () => {
  const inReply = { before: 'x = 1\n', wrappingFence: PYTHON } as const;

  test.each([
    ['before DONE', 'y = 2\n```\nDONE\n', '```\n'],
    ['before DONE, blank lines between', 'y = 2\n```\n\nDONE\n', '```\n\n'],
    ['after DONE', 'y = 2\nDONE\n```\n', '```\n'],
    ['after DONE, at the message end', 'y = 2\nDONE\n```', '```'],
    ['before the end marker', 'y = 2\n```\nDONE 7f3a\n', '```\n'],
  ])('is set aside %s', (_name, message, setAside) => {
    const result = readMessage([message], inReply);
    expect(result.content).toBe('y = 2\n');
    expect(result.ending).toMatchObject({ kind: 'terminal', setAside, innerDoneLines: [] });
  });

  test('is set aside at the message end', () => {
    expect(readMessage(['y = 2\n```'], inReply)).toMatchObject({
      content: 'y = 2\n',
      ending: { kind: 'none', setAside: '```' },
    });
  });

  test('is set aside when the stream breaks, but not its beginning', () => {
    const broken = { ...inReply, orderly: false };
    expect(readMessage(['y = 2\n```\nDONE'], broken)).toMatchObject({
      content: 'y = 2\n',
      ending: { kind: 'none', setAside: '```\n' },
    });
    expect(readMessage(['y = 2\n``'], broken).content).toBe('y = 2\n``');
  });

  test('is content when text follows', () => {
    const message = 'y = 2\n```\nmore\nDONE\n';
    expect(readMessage([message], inReply).content).toBe('y = 2\n```\nmore\n');
  });

  test('is the one that no fence of the content is left for', () => {
    expect(readMessage(['y\n```\nz\n```\n```\nDONE\n'], inReply)).toMatchObject({
      content: 'y\n```\nz\n```\n',
      ending: { setAside: '```\n' },
    });
    expect(readMessage(['y\n```\nz\n```\nDONE\n'], inReply)).toMatchObject({
      content: 'y\n```\nz\n```\n',
      ending: { setAside: '' },
    });
  });

  test('is content while a fence of the content is open', () => {
    const result = readMessage(['let a\n```\nDONE\n'], {
      before: '# x\n```js\n',
      kind: 'markdown',
      wrappingFence: { character: '`', length: 3, info: 'markdown' },
    });
    expect(result.content).toBe('let a\n```\n');
    expect(result.ending).toMatchObject({ kind: 'terminal', setAside: '' });
  });

  test('stands after DONE when the line before it closes a fence of the content', () => {
    const result = readMessage(['let a\n```\nDONE\n```\n'], {
      before: '# x\n```js\n',
      kind: 'markdown',
      wrappingFence: { character: '`', length: 3, info: 'markdown' },
    });
    expect(result.content).toBe('let a\n```\n');
    expect(result.ending).toMatchObject({ kind: 'terminal', setAside: '```\n' });
  });

  test('is content when another fence follows the DONE behind it', () => {
    for (const orderly of [true, false]) {
      const message = 'y\n```\nDONE\n~~~\n';
      expect(readMessage([message], { ...inReply, orderly }).content).toBe(message);
    }
  });

  test('a shorter or another fence is content', () => {
    const wide: FenceLine = { character: '`', length: 4, info: '' };
    expect(readMessage(['y\n```\nDONE\n'], { wrappingFence: wide }).content).toBe('y\n```\n');
    expect(readMessage(['y\n~~~~\nDONE\n'], { wrappingFence: wide }).content).toBe('y\n~~~~\n');
    expect(readMessage(['y\n````\nDONE\n'], { wrappingFence: wide }).content).toBe('y\n');
  });
});
