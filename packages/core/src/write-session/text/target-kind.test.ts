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
