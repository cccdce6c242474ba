import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { reportOf } from './api-report.ts';
import { checkTarball } from './check-tarball.ts';
import {
  installImports,
  installInEmptyProject,
  programsIn,
  promised,
  useInProject,
} from './empty-project.ts';
import { checkManPages } from './man-pages.ts';
import type { Manifest, Packed } from './pack.ts';

/** One violation of each kind is planted and has to be found: a check that finds nothing proves nothing. */
const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orion-packaging-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const SOUND: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    name: '@orion/planted',
    version: '0.1.0',
    license: 'MIT',
    type: 'module',
    files: ['dist'],
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    engines: { node: '>=22.12' },
  }),
  'README.md': '# planted\n',
  LICENSE: 'MIT\n',
  'dist/index.js': 'export const answer = 42;\n',
  'dist/index.d.ts': 'export declare const answer: number;\n',
};

function plant(changes: Readonly<Record<string, string | null>>): Packed {
  const unpacked = join(folder, 'package');
  const files = Object.entries({ ...SOUND, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  for (const [name, content] of files) {
    mkdirSync(dirname(join(unpacked, name)), { recursive: true });
    writeFileSync(join(unpacked, name), content);
  }
  const tarball = join(folder, 'planted.tgz');
  execFileSync('tar', ['-czf', tarball, '-C', folder, 'package']);
  const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as Manifest;
  return { manifest, folder: unpacked, tarball, unpacked, files: files.map(([name]) => name) };
}

const manifestWith = (more: object): string =>
  JSON.stringify({ ...(JSON.parse(SOUND['package.json'] ?? '') as object), ...more });

test('a sound package is found sound', async () => {
  expect(await checkTarball(plant({}))).toEqual([]);
  const links = '[a](#planted) [b](LICENSE) [c](./dist/index.js#L1) [d](https://example.com/x#y)\n';
  expect(await checkTarball(plant({ 'README.md': `# planted\n${links}` }))).toEqual([]);
  const copied = { 'dist/a/b.wasm': '', 'dist/a/LICENSES.txt': 'MIT\n' };
  expect(await checkTarball(plant(copied))).toEqual([]);
});

test.for<[string, Readonly<Record<string, string | null>>, RegExp]>([
  ['a test', { 'dist/index.test.js': '' }, /contains dist\/index\.test\.js/],
  ['sources', { 'src/index.ts': '' }, /contains src/],
  ['a build leftover', { 'dist/.tsbuildinfo': '' }, /contains dist\/\.tsbuildinfo/],
  ['no licence', { LICENSE: null }, /lacks LICENSE/],
  ["somebody else's program without its licence", { 'dist/a.wasm': '' }, /a\.wasm without/],
  ['no types', { 'dist/index.d.ts': null }, /publint|are the types wrong/],
  ['no program', { 'dist/index.js': null }, /publint/],
  [
    'types after the program',
    {
      'package.json': manifestWith({
        exports: { '.': { default: './dist/index.js', types: './dist/index.d.ts' } },
      }),
    },
    /publint/,
  ],
  [
    'a protocol of the repository',
    { 'package.json': manifestWith({ dependencies: { zod: 'workspace:*' } }) },
    /workspace:/,
  ],
  [
    'a dependency that everybody installs',
    { 'package.json': manifestWith({ optionalDependencies: { zod: '4' } }) },
    /optional dependencies/,
  ],
  [
    'a link to a folder of the repository',
    { 'README.md': 'See [the guide](../../docs/guide.md#part).\n' },
    /the link \.\.\/\.\.\/docs\/guide\.md#part of README\.md leads out of the package/,
  ],
  ['a link to nothing', { 'README.md': '[more](MORE.md)\n' }, /MORE\.md .* leads out/],
  [
    'types that import without an ending',
    {
      'dist/index.d.ts': "export { answer } from './other';\n",
      'dist/other.d.ts': 'export declare const answer: number;\n',
    },
    /are the types wrong/,
  ],
])('%s is found', async ([, changes, problem]) => {
  expect((await checkTarball(plant(changes))).join('\n')).toMatch(problem);
});

const WITH_PAGES: Readonly<Record<string, string>> = {
  'package.json': manifestWith({
    bin: { made: './dist/index.js' },
    man: ['./dist/man/made.1', './dist/man/made-go.1'],
  }),
  'dist/man/made.1': '.TH MADE 1 "" "made 0.1.0" "Made"\n',
  'dist/man/made-go.1': '.TH MADE-GO 1 "" "made 0.1.0" "Made"\n.TP\n\\-\\-far\n',
};

test.for<[string, Readonly<Record<string, string | null>>, readonly string[]]>([
  ['a whole manual', {}, []],
  ['a page that is missing', { 'dist/man/made-go.1': null }, ['lacks dist/man/made-go.1']],
  [
    'a page that the manifest does not name',
    { 'package.json': manifestWith({ bin: { made: '' }, man: ['./dist/man/made.1'] }) },
    ['man of the manifest lacks dist/man/made-go.1'],
  ],
  [
    'a page of a command that is gone',
    {
      'package.json': manifestWith({
        bin: { made: '' },
        man: ['./dist/man/made.1', './dist/man/made-go.1', './dist/man/made-run.1'],
      }),
      'dist/man/made-run.1': '.TH',
    },
    [
      'man of the manifest has dist/man/made-run.1',
      'contains dist/man/made-run.1, a page of no command',
    ],
  ],
  [
    'a page of an earlier version',
    { 'dist/man/made.1': '.TH MADE 1 "" "made 0.0.9" "Made"\n' },
    ['dist/man/made.1 is not of version 0.1.0'],
  ],
  [
    'an option that came later',
    { 'dist/man/made-go.1': '.TH MADE-GO 1 "" "made 0.1.0" "Made"\n' },
    ['dist/man/made-go.1 does not have --far'],
  ],
])('%s: the manual is that of the command', async ([, changes, problems]) => {
  const help = (args: readonly string[]): Promise<string> =>
    Promise.resolve(
      args[0] === 'go'
        ? 'Usage: made go\n\nOptions:\n  -f, --far <n>  how far\n'
        : 'Usage: made\n\nCommands:\n  go [options]  goes\n  help [command]  helps\n\nExamples:\n  made go\n',
    );
  expect(await checkManPages(plant({ ...WITH_PAGES, ...changes }), help)).toEqual(problems);
});

test('an import that the package does not declare fails in an empty project', async () => {
  const packed = plant({ 'dist/index.js': "import 'zod';\nexport const answer = 42;\n" });
  const project = join(folder, 'project');
  const program = "import { answer } from '@orion/planted';\nconsole.log(answer);\n";
  await installInEmptyProject(packed, [packed], project);
  await expect(useInProject(root, project, program, 'use.ts')).rejects.toThrow(/zod/);
});

test('a block of a README is a program: one that does not compile as it is printed fails', async () => {
  const packed = plant({});
  const project = join(folder, 'reader');
  const readme = [
    '```ts',
    "import { answer } from '@orion/planted';",
    'console.log(answer + 1);',
    '// prints: 43',
    '```',
    'and',
    '```ts',
    'console.log(answer);',
    '```',
    '```json',
    '{}',
    '```',
    '',
  ].join('\n');
  const programs = programsIn(readme);
  expect(programs.map(promised)).toEqual(['43', undefined]);
  await installInEmptyProject(packed, [packed], project);
  const [whole = '', part = ''] = programs;
  await installImports(whole, packed, [packed], project);
  expect(await useInProject(root, project, whole, 'readme-1.ts')).toBe('43');
  await expect(useInProject(root, project, part, 'readme-2.ts')).rejects.toMatchObject({
    stdout: expect.stringContaining("Cannot find name 'answer'"),
  });
});

test('a change of an interface is in its report, a change of a comment is not', () => {
  const file = join(folder, 'index.d.ts');
  const inner = join(folder, 'inner.d.ts');
  const write = (declaration: string): string => {
    writeFileSync(file, "export { one, type Two } from './inner.ts';\nexport type Three = 3;\n");
    writeFileSync(inner, declaration);
    return reportOf(file);
  };
  const before = write(
    '/** Old. */\nexport declare const one: number;\nexport type Two = { a: 1 };\n',
  );
  expect(before).toBe(
    'export type Three = 3;\n\nexport type Two = { a: 1 };\n\nexport declare const one: number;',
  );
  expect(
    write('export type Two = { a: 1 };\n/** New. */\nexport declare const one: number; // here\n'),
  ).toBe(before);
  expect(write('export declare const one: string;\nexport type Two = { a: 1 };\n')).not.toBe(
    before,
  );
  expect(write('export declare const one: number;\nexport type Two = { a: 2 };\n')).not.toBe(
    before,
  );
});

test('a change of what an exported type is made of changes the report of the package', () => {
  const file = join(folder, 'index.d.ts');
  const inner = join(folder, 'inner.d.ts');
  const write = (hidden: string): string => {
    writeFileSync(file, "export type { Options } from './inner.ts';\n");
    writeFileSync(
      inner,
      `type Hidden = { ${hidden}: string; self?: Hidden };\ntype Unused = 1;\nexport type Options = Hidden & { own: 1 };\n`,
    );
    return reportOf(file);
  };
  expect(write('baseUrl')).toBe(
    [
      'export type Options = Hidden & { own: 1 };',
      '// Without a name of their own outside:',
      'type Hidden = { baseUrl: string; self?: Hidden };',
    ].join('\n\n'),
  );
  expect(write('url')).not.toBe(write('baseUrl'));
});
