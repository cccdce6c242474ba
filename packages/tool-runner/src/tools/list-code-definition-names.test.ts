import { OrionError } from '@orion/contracts';
import type { FileList, FileSelection, JsonObject, ReadRange, TextExcerpt } from '@orion/contracts';
import { toolCall } from '@orion/testkit';
import { expect, it } from 'vitest';

import { LANGUAGES } from '../definitions/languages.ts';
import { MAX_LISTED } from '../definitions/list-definitions.ts';
import type { OutlineLimits } from '../definitions/outline.ts';
import { createToolRegistry } from '../registry/tool-registry.ts';
import { CONTEXT } from '../testing/context.ts';
import { createCodeDefinitionsTool } from './list-code-definition-names.ts';

const TEXTS: Readonly<Record<string, Partial<TextExcerpt>>> = {
  'a.ts': { content: 'export class A {\n  m() {}\n}\n' },
  'b.py': { content: 'def caf\u00e9(): pass\n', encoding: 'latin1' },
  'many.ts': { content: 'class A {}\n'.repeat(MAX_LISTED + 1) },
  'broken.go': { content: 'package a\nfunc f() {}\nfunc (\n' },
};

async function call(
  args: JsonObject,
  files: readonly string[],
  list: Partial<FileList> = {},
  limits?: Partial<OutlineLimits>,
) {
  const asked: (FileSelection | undefined)[] = [];
  const ranges: ReadRange[] = [];
  const tool = createCodeDefinitionsTool(
    {
      listFiles: (_limit, selection) => {
        asked.push(selection);
        return Promise.resolve({ files, truncated: false, refused: [], ...list });
      },
      readText: async (path, range) => {
        ranges.push(range);
        const text = TEXTS[path];
        if (path === 'defect.ts') throw new Error('a defect');
        if (text === undefined)
          throw new OrionError({ code: 'INVALID_CONTENT', message: `${path} is a binary file.` });
        const lines = { firstLine: 1, lastLine: 1, totalLines: 1, totalBytes: 1, truncated: false };
        return { path, content: '', encoding: 'utf-8', ...lines, ...text };
      },
    },
    limits,
  );
  const registry = createToolRegistry([tool]);
  const [result] = await registry.executeToolCalls(
    [toolCall('1', 'list_code_definition_names', args)],
    { ...CONTEXT, mode: 'plan' },
  );
  if (result === undefined) throw new Error('no result');
  const value = result.success ? result.result : result.error;
  return { value, asked, ranges, summary: registry.summarize(result) };
}

it('lists the definitions of the source files of a folder, in PLAN mode too', async () => {
  const { value, asked, ranges, summary } = await call({}, ['a.ts', 'b.py', 'README.md']);
  expect(value).toEqual({
    path: '.',
    definitions: 3,
    complete: true,
    notes: [
      '1 file in other languages than TypeScript, TSX, JavaScript, Python, Go, Rust, Java left out.',
    ],
    files: [
      { path: 'a.ts', definitions: ['1-3 class: export class A', '  2 method: m()'] },
      { path: 'b.py', encoding: 'latin1', definitions: ['1 function: def café()'] },
    ],
  });
  expect(asked).toEqual([{ below: '.', globs: [], recursive: false }]);
  const whole = { maxLines: Number.MAX_SAFE_INTEGER, maxBytes: 2 * 1024 ** 2 };
  expect(ranges).toEqual([1, 2].map(() => ({ ...whole, maxFileBytes: 1024 ** 2 })));
  expect(summary).toBe('.: 3 definitions in 2 files');
});

it('passes on what is asked for', async () => {
  const args = { path: 'src', globs: ['!*.test.ts'], recursive: true };
  const { value, asked, summary } = await call(args, ['a.ts']);
  expect(asked).toEqual([{ below: 'src', globs: ['!*.test.ts'], recursive: true }]);
  expect(value).not.toHaveProperty('notes');
  expect(summary).toBe('src: 2 definitions in 1 file');
});

it('says which files could not be read or parsed, and answers the others', async () => {
  const { value } = await call({}, ['a.ts', 'binary.ts', 'broken.go']);
  expect(value).toMatchObject({
    definitions: 3,
    complete: true,
    files: [
      { path: 'a.ts' },
      { path: 'binary.ts', error: 'binary.ts is a binary file.' },
      {
        path: 'broken.go',
        notes: ['Not all of it could be parsed.'],
        definitions: ['2 function: func f()'],
      },
    ],
  });
});

it('does not take a defect for a file that cannot be read', async () => {
  const { value } = await call({}, ['a.ts', 'defect.ts']);
  expect(value).toMatchObject({ code: 'TOOL_FAILED', message: 'a defect' });
});

it('says what it did not look at', async () => {
  const refused = [{ path: '.gitignore', reason: 'it is a link' }];
  expect((await call({}, ['a.ts'], { truncated: true, refused })).value).toMatchObject({
    complete: false,
    notes: [
      'There are too many files to look at all of them.',
      '".gitignore" was not used because it is a link.',
    ],
  });
  const files = ['a.ts', 'b.py', 'broken.go'];
  expect((await call({}, files, {}, { characters: 1 })).value).toMatchObject({
    complete: false,
    notes: [
      'There were too many definitions before 2 files could be looked at: narrow path or globs.',
    ],
    files: [{ path: 'a.ts' }],
  });
  expect((await call({}, ['a.ts'], {}, { totalMs: 0 })).value).toMatchObject({
    complete: false,
    notes: ['The time was over before 1 file could be looked at: narrow path or globs.'],
    files: [],
  });
});

it('names every language in its description', () => {
  const { definition } = createCodeDefinitionsTool({} as never);
  const names = LANGUAGES.map(({ name }) => name).join(', ');
  expect(definition.description).toContain(`Languages: ${names}.`);
});

it.each<JsonObject>([{ path: 7 }, { globs: 'a' }, { recursive: 'yes' }, { depth: 3 }])(
  '%j does not reach the workspace',
  async (args) => {
    const { value, asked } = await call(args, []);
    expect(value).toMatchObject({ code: 'INVALID_TOOL_ARGUMENTS' });
    expect(asked).toEqual([]);
  },
);

it('says how many definitions of a file are not listed', async () => {
  const { value, summary } = await call({}, ['many.ts']);
  expect(value).toMatchObject({
    definitions: MAX_LISTED + 1,
    files: [{ path: 'many.ts', notes: ['1 more definition not listed.'] }],
  });
  expect(summary).toBe(`.: ${MAX_LISTED + 1} definitions in 1 file`);
});
