import { expect, test } from 'vitest';
import { targetKindOf } from './target-kind.ts';

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

test.each(['md', 'mdx', 'markdown', 'mdown', 'mkd', 'mkdn', 'rmd', 'qmd'])(
  'R032: .%s is Markdown',
  (extension) => {
    expect(targetKindOf(`a.${extension}`)).toBe('markdown');
    expect(targetKindOf(`dir.py/A.B.${extension.toUpperCase()}`)).toBe('markdown');
    expect(targetKindOf(extension)).toBe('prose');
  },
);

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
