import { expect, test } from 'vitest';
import { isNamedAsCode, targetKindOf } from './target-kind.ts';

test.each([
  ['docs/guide.md', 'markdown'],
  ['a.mdx', 'markdown'],
  ['README.markdown', 'markdown'],
  ['NOTES.MD', 'markdown'],
  ['README', 'prose'],
  ['docs/LICENSE', 'prose'],
  ['v1.2/notes', 'prose'],
  ['a.txt', 'prose'],
  ['a.rst', 'prose'],
  ['a.adoc', 'prose'],
  ['a.org', 'prose'],
  ['a.py', 'code'],
  ['a.b.ts', 'code'],
  ['data.json', 'code'],
  ['page.html', 'code'],
  ['paper.tex', 'code'],
  ['Makefile', 'code'],
  ['sub/Dockerfile', 'code'],
  ['CMakeLists.txt', 'code'],
  ['requirements.txt', 'code'],
  ['.gitignore', 'code'],
  ['.github\\CODEOWNERS', 'code'],
])('R032: %s is %s', (path, kind) => {
  expect(targetKindOf(path)).toBe(kind);
});

test.each([
  'md',
  'mdx',
  'markdown',
  'mdown',
  'mkd',
  'mkdn',
  'rmd',
  'qmd',
  'mdc',
  'mdoc',
  'livemd',
  'svx',
])('R032: .%s is Markdown', (extension) => {
  expect(targetKindOf(`a.${extension}`)).toBe('markdown');
  expect(targetKindOf(`dir.py/A.B.${extension.toUpperCase()}`)).toBe('markdown');
  expect(targetKindOf(extension)).toBe('prose');
});

test.each([
  'txt',
  'text',
  'rst',
  'rest',
  'adoc',
  'asciidoc',
  'asc',
  'org',
  'textile',
  'wiki',
  'mediawiki',
  'creole',
  'pod',
  'log',
  'eml',
  'typ',
  'dj',
  'norg',
  'prompt',
])('R032: .%s is prose', (extension) => {
  expect(targetKindOf(`a.${extension}`)).toBe('prose');
  expect(targetKindOf(`dir.py\\A.B.${extension.toUpperCase()}`)).toBe('prose');
});

test.each([
  'makefile',
  'gnumakefile',
  'dockerfile',
  'containerfile',
  'justfile',
  'rakefile',
  'gemfile',
  'procfile',
  'jenkinsfile',
  'vagrantfile',
  'brewfile',
  'podfile',
  'fastfile',
  'caddyfile',
  'cmakelists.txt',
  'requirements.txt',
  'constraints.txt',
  'robots.txt',
  'codeowners',
  'build',
  'workspace',
])('R032: %s is code by its name alone', (name) => {
  expect(targetKindOf(name)).toBe('code');
  expect(targetKindOf(`docs/notes\\${name.toUpperCase()}`)).toBe('code');
  expect(targetKindOf(`${name}/README`)).toBe('prose');
});

test.each([
  ['docs\\sub/a.md', 'markdown'],
  ['docs/sub\\a.md', 'markdown'],
  ['docs.md\\sub/a', 'prose'],
  ['docs.md/sub\\a', 'prose'],
  ['a.', 'prose'],
  ['a.py.', 'prose'],
  ['a..md', 'markdown'],
  ['.md', 'code'],
  ['.txt', 'code'],
  ['dir/.log', 'code'],
  ['.a.md', 'markdown'],
  ['x.changed', 'code'],
  ['changed', 'prose'],
  ['', 'prose'],
])('R032: the extension of %j is what follows its last dot: %s', (path, kind) => {
  expect(targetKindOf(path)).toBe(kind);
});

test.each([
  ['README.md.tmpl', 'markdown'],
  ['CHANGELOG.md.in', 'markdown'],
  ['prompts/system.txt.j2', 'prose'],
  ['requirements.txt.in', 'code'],
  ['.cursorrules', 'prose'],
  ['sub/.goosehints', 'prose'],
  ['.copilot-instructions', 'prose'],
])('R032: %s is %s, whatever its last extension', (path, kind) => {
  expect(targetKindOf(path)).toBe(kind);
});

test.each([
  ['a.py', true],
  ['a.py.j2', true],
  ['config.h.in', true],
  ['views/index.ejs', true],
  ['Makefile', true],
  ['.gitignore', true],
  ['.env.local', true],
  ['.npmrc', true],
  ['.editorconfig', true],
  ['README.tmpl', false],
  ['prompt.jinja', false],
  ['a.x', false],
  ['.unheard-of', false],
  ['a.md', false],
  ['README', false],
])('R032: only what is known as code is named so: %s', (path, isCode) => {
  expect(isNamedAsCode(path)).toBe(isCode);
});
