import { OrionError } from '@orion/contracts';
import type {
  JsonObject,
  ReadRange,
  TextExcerpt,
  ToolExecutionContext,
  Workspace,
} from '@orion/contracts';
import { toolCall } from '@orion/testkit';
import { expect, test } from 'vitest';
import { createToolRegistry } from '../registry/tool-registry.ts';
import { createReadFileTool } from './read-file.ts';
import { CONTEXT } from '../testing/context.ts';

const context: ToolExecutionContext = { ...CONTEXT, mode: 'plan' };

/** A workspace of one file that keeps the bounds as the port says. */
function workspaceWith(
  text: string,
  encoding: TextExcerpt['encoding'] = 'utf-8',
): Pick<Workspace, 'readText'> & { ranges: ReadRange[] } {
  const ranges: ReadRange[] = [];
  return {
    ranges,
    readText(path, range) {
      ranges.push(range);
      if (path !== 'a.txt') {
        return Promise.reject(new OrionError({ code: 'FILE_NOT_FOUND', message: `no ${path}` }));
      }
      const lines = text.split(/(?<=\n)/).filter((line) => line !== '');
      const firstLine = range.firstLine ?? 1;
      let content = '';
      let lastLine = firstLine - 1;
      for (const line of lines.slice(firstLine - 1, firstLine - 1 + range.maxLines)) {
        if (content.length + line.length > range.maxBytes) {
          if (content === '') {
            content = line.slice(0, range.maxBytes);
            lastLine += 1;
          }
          break;
        }
        content += line;
        lastLine += 1;
      }
      return Promise.resolve({
        path,
        encoding,
        content,
        firstLine,
        lastLine,
        totalLines: lines.length,
        totalBytes: text.length,
        truncated: lastLine < lines.length || content.length === range.maxBytes,
      });
    },
  };
}

async function read(text: string, args: JsonObject, encoding?: TextExcerpt['encoding']) {
  const workspace = workspaceWith(text, encoding);
  const registry = createToolRegistry([createReadFileTool(workspace)]);
  const [result] = await registry.executeToolCalls([toolCall('1', 'read_file', args)], context);
  if (result === undefined) throw new Error('A call has a result');
  return {
    ranges: workspace.ranges,
    result,
    value: result.success ? (result.result as JsonObject) : {},
    summary: registry.summarize(result),
  };
}

const numbered = (count: number, width = 0) =>
  Array.from({ length: count }, (_, index) => `${index + 1}${'x'.repeat(width)}\n`).join('');

test('reads a whole small file as it is', async () => {
  const { value, ranges, summary } = await read('one\ntwo', { path: 'a.txt' });
  expect(value).toEqual({
    path: 'a.txt',
    first_line: 1,
    last_line: 2,
    total_lines: 2,
    total_bytes: 7,
    truncated: false,
    content: 'one\ntwo',
  });
  expect(ranges).toEqual([{ firstLine: 1, maxLines: 2000, maxBytes: 65_536 }]);
  expect(summary).toBe('a.txt: lines 1-2 of 2');
});

test('names an encoding that is not UTF-8, and says when it is only assumed', async () => {
  const args = { path: 'a.txt' };
  const note =
    'This is not valid UTF-8. It was read as Latin-1, so characters outside ASCII may be wrong.';
  expect((await read('one\n', args)).value).not.toHaveProperty('encoding');
  expect((await read('one\n', args, 'utf-16le')).value).toMatchObject({ encoding: 'utf-16le' });
  expect((await read('one\n', args, 'utf-16le')).value).not.toHaveProperty('note');
  expect((await read('one\n', args, 'latin1')).value).toMatchObject({ encoding: 'latin1', note });
  expect((await read('1\n2\n', { ...args, max_lines: 1 }, 'latin1')).value).toMatchObject({
    note: `${note} Cut at 1 lines. Read on with first_line 2.`,
  });
});

test('says which limit cut the text and where to read on', async () => {
  expect((await read(numbered(2500), { path: 'a.txt' })).value).toMatchObject({
    truncated: true,
    limit: 'max_lines',
    last_line: 2000,
    total_lines: 2500,
    note: 'Cut at 2000 lines. Read on with first_line 2001.',
  });
  expect(
    (await read(numbered(10), { path: 'a.txt', first_line: 3, max_lines: 2 })).value,
  ).toMatchObject({
    content: '3\n4\n',
    limit: 'max_lines',
    note: 'Cut at 2 lines. Read on with first_line 5.',
  });
  expect((await read(numbered(100, 1000), { path: 'a.txt' })).value).toMatchObject({
    limit: 'max_bytes',
    last_line: 65,
    note: 'Cut at 64 KiB. Read on with first_line 66.',
  });
  expect((await read('x'.repeat(100_000), { path: 'a.txt' })).value).toMatchObject({
    limit: 'max_bytes',
    note: expect.stringContaining('Cut at 64 KiB.'),
  });
  expect((await read(`${'x'.repeat(100_000)}\nb\n`, { path: 'a.txt' })).value).toMatchObject({
    note: expect.stringContaining('Line 1 is longer than that'),
  });
});

test('says so when the file ends before the first line', async () => {
  expect((await read('one\n', { path: 'a.txt', first_line: 5 })).value).toMatchObject({
    content: '',
    note: 'The file has 1 lines; there is no line 5.',
  });
});

test('an error of the workspace is what the model reads', async () => {
  expect((await read('', { path: 'b.txt' })).result).toMatchObject({
    error: { code: 'FILE_NOT_FOUND', message: 'no b.txt' },
  });
});

test('an omitted argument is the same as its default', () => {
  const registry = createToolRegistry([createReadFileTool(workspaceWith(''))]);
  const sign = (args: JsonObject) => registry.signatureOf(toolCall('1', 'read_file', args), 'p');
  const whole = sign({ path: 'a.txt' });
  expect(sign({ path: './a.txt', first_line: 1, max_lines: 2000 })).toBe(whole);
  expect(sign({ path: 'a.txt', first_line: 2 })).not.toBe(whole);
});

test('bounds that make no sense do not reach the workspace', async () => {
  const wrong: readonly JsonObject[] = [
    {},
    { path: 7 },
    { path: ' ' },
    { path: 'a.txt', first_line: 0 },
    { path: 'a.txt', max_lines: 2001 },
    { path: 'a.txt', max_lines: 1.5 },
    { path: 'a.txt', encoding: 'latin1' },
  ];
  for (const args of wrong) {
    const { result, ranges } = await read('one', args);
    const error = {
      code: 'INVALID_TOOL_ARGUMENTS',
      message: expect.stringMatching(/^The arguments of read_file do not fit: \S/u),
      hint: 'Correct the named arguments and call again.',
    };
    expect(result).toMatchObject({ error, attempts: 0 });
    expect(ranges).toEqual([]);
  }
});
