import type {
  FileList,
  FileSelection,
  JsonObject,
  SearchReport,
  SearchRequest,
  Tool,
} from '@orion/contracts';
import { OrionError } from '@orion/contracts';
import { toolCall } from '@orion/testkit';
import { describe, expect, it } from 'vitest';
import { createToolRegistry } from '../registry/tool-registry.ts';
import { CONTEXT } from '../testing/context.ts';
import { createListFilesTool } from './list-files.ts';
import { createSearchFilesTool } from './search-files.ts';

async function call(tool: Tool, args: JsonObject) {
  const registry = createToolRegistry([tool]);
  const { name } = tool.definition;
  const context = { ...CONTEXT, mode: 'plan' } as const;
  const [result] = await registry.executeToolCalls([toolCall('1', name, args)], context);
  if (result === undefined) throw new Error('no result');
  const value = result.success ? result.result : result.error;
  return { value, result, summary: registry.summarize(result) };
}

describe('list_files', () => {
  const asked: (FileSelection | undefined)[] = [];
  const over = (list: Partial<FileList>): Tool =>
    createListFilesTool({
      listFiles: (_limit, selection) => {
        asked.push(selection);
        if (selection?.below === 'none') {
          throw new OrionError({ code: 'FILE_NOT_FOUND', message: 'There is no "none".' });
        }
        return Promise.resolve({ files: [], truncated: false, refused: [], ...list });
      },
    });

  it('lists files, by default of the whole workspace', async () => {
    const { value, summary } = await call(over({ files: ['a', 'b/c'] }), {});
    expect(value).toEqual({ path: '.', total_files: 2, files: ['a', 'b/c'] });
    expect(asked.at(-1)).toEqual({ below: '.', globs: [] });
    expect(summary).toBe('.: 2 files');
    await call(over({}), { path: 'b', globs: ['*.ts'] });
    expect(asked.at(-1)).toEqual({ below: 'b', globs: ['*.ts'] });
  });

  it('folds folders where not all fit, and says so', async () => {
    const files = ['a', 'b', 'c/1', 'c/2', 'd'];
    expect((await call(over({ files }), { max_lines: 4 })).value).toEqual({
      path: '.',
      total_files: 5,
      notes: ['Folders with a count are not listed file by file.'],
      files: ['a', 'b', 'c/ (2 files)', 'd'],
    });
    expect((await call(over({ files }), { max_lines: 2 })).value).toMatchObject({
      notes: ['3 more files did not fit.'],
      files: ['a', 'b'],
    });
    const three = over({ files: ['a', 'b', 'c'] });
    expect((await call(three, { max_lines: 2 })).value).toMatchObject({
      notes: ['1 more file did not fit.'],
    });
    expect((await call(three, { max_lines: 3 })).value).not.toHaveProperty('notes');
  });

  it('says what could not be looked at', async () => {
    const refused = [{ path: '.gitignore', reason: 'it is a link' }];
    expect((await call(over({ truncated: true, refused }), {})).value).toMatchObject({
      notes: [
        'There are too many files to look at all of them.',
        '".gitignore" was not used because it is a link.',
      ],
    });
  });

  it('an error of the workspace is what the model reads', async () => {
    expect((await call(over({}), { path: 'none' })).value).toMatchObject({
      code: 'FILE_NOT_FOUND',
    });
  });

  it.each<JsonObject>([
    { path: 7 },
    { globs: 'a' },
    { globs: Array.from({ length: 21 }, () => 'a') },
    { max_lines: 0 },
    { max_lines: 1001 },
    { limit: 3 },
  ])('%j does not reach the workspace', async (args) => {
    const before = asked.length;
    expect((await call(over({}), args)).value).toMatchObject({ code: 'INVALID_TOOL_ARGUMENTS' });
    expect(asked).toHaveLength(before);
  });
});

describe('search_files', () => {
  const NOTHING: SearchReport = {
    files: [],
    matches: 0,
    searched: 3,
    leftOut: { binary: 0, tooLarge: 0, unreadable: 0, longLines: 0 },
    stopped: null,
    refused: [],
  };
  const asked: SearchRequest[] = [];
  const over = (report: Partial<SearchReport> = {}): Tool =>
    createSearchFilesTool({
      searchFiles: (request) => {
        asked.push(request);
        return Promise.resolve({ ...NOTHING, ...report });
      },
    });

  it('asks for literal text by default', async () => {
    const { value } = await call(over(), { pattern: 'a' });
    expect(value).toEqual({ matches: 0, searched_files: 3, complete: true, files: [] });
    expect(asked.at(-1)).toMatchObject({
      below: '.',
      globs: [],
      pattern: 'a',
      syntax: 'literal',
      ignoreCase: false,
      contextLines: 0,
      signal: expect.any(AbortSignal) as AbortSignal,
    });
    await call(over(), {
      pattern: 'a|b',
      regex: true,
      path: 'src',
      globs: ['*.ts'],
      ignore_case: true,
      context_lines: 2,
    });
    expect(asked.at(-1)).toMatchObject({
      below: 'src',
      globs: ['*.ts'],
      syntax: 'regex',
      ignoreCase: true,
      contextLines: 2,
    });
  });

  it('shows lines with their numbers, and an encoding that was assumed', async () => {
    const lines = [
      { line: 2, text: 'x', isMatch: false },
      { line: 3, text: 'a: b', isMatch: true },
    ];
    const files = [
      { path: 'a.txt', encoding: 'utf-8', lines },
      { path: 'b.txt', encoding: 'latin1', lines: lines.slice(1) },
    ] as const;
    const { value, summary } = await call(over({ files, matches: 2 }), { pattern: 'a' });
    expect(value).toMatchObject({
      files: [
        { path: 'a.txt', lines: ['2-x', '3:a: b'] },
        { path: 'b.txt', encoding: 'latin1', lines: ['3:a: b'] },
      ],
    });
    expect(summary).toBe('2 matching lines in 2 files');
  });

  it.each<[Partial<SearchReport>, string]>([
    [
      { stopped: { reason: 'matches', at: 'a' }, matches: 200 },
      'Stopped at 200 matching lines in "a". Files after it were not searched: narrow path, globs or the pattern.',
    ],
    [
      { stopped: { reason: 'time', at: 'a\nb' } },
      'Stopped after 10 s in "a\\nb". Files after it were not searched: narrow path, globs or the pattern.',
    ],
    [
      { stopped: { reason: 'memory', at: null } },
      'The search ran out of memory. Files after it were not searched: narrow path, globs or the pattern.',
    ],
    [
      { stopped: { reason: 'files', at: null } },
      'There are too many files to search all of them: narrow path.',
    ],
    [
      { refused: [{ path: '.gitignore', reason: 'it is a link' }] },
      '".gitignore" was not used because it is a link.',
    ],
  ])('%j', async (report, note) => {
    expect((await call(over(report), { pattern: 'a' })).value).toMatchObject({
      complete: (report.stopped ?? null) === null,
      notes: [note],
    });
  });

  it('counts what was left out', async () => {
    const leftOut = { binary: 1, tooLarge: 2, unreadable: 3, longLines: 4 };
    expect((await call(over({ leftOut }), { pattern: 'a' })).value).toMatchObject({
      notes: [
        '1 file not searched: binary.',
        '2 files not searched: larger than 10 MiB.',
        '3 files not searched: could not be read.',
        '4 files with lines of which only the first 64 KiB were searched.',
      ],
    });
  });

  it('hints at expressions where a literal text that looks like one is not found', async () => {
    const notes = [
      'The pattern was searched as literal text. For an expression, set regex to true.',
    ];
    expect((await call(over(), { pattern: 'a|b' })).value).toMatchObject({ notes });
    expect((await call(over(), { pattern: 'a|b', regex: true })).value).not.toHaveProperty('notes');
    expect((await call(over({ matches: 1 }), { pattern: 'a|b' })).value).not.toHaveProperty(
      'notes',
    );
  });

  it.each<JsonObject>([
    {},
    { pattern: '' },
    { pattern: 'a'.repeat(1001) },
    { pattern: 'a', context_lines: 11 },
    { pattern: 'a', regex: 'yes' },
    { pattern: 'a', flags: 'g' },
  ])('%j does not reach the workspace', async (args) => {
    const before = asked.length;
    expect((await call(over(), args)).value).toMatchObject({ code: 'INVALID_TOOL_ARGUMENTS' });
    expect(asked).toHaveLength(before);
  });
});
