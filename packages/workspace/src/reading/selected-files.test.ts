import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileSelection } from '@orion/contracts';
import { expect, it } from 'vitest';
import { openTestWorkspace, temporaryDirectory } from '../testing/temp-workspace.ts';
import { FileWalk } from './walk-files.ts';

const FILES: Readonly<Record<string, string>> = {
  '.gitignore': '*.log\n/build/\n',
  'a.txt': '',
  'build/b.txt': '',
  'build/c.log': '',
  'docs/.gitignore': 'draft.md\n',
  'docs/deep/draft.md': '',
  'docs/deep/e.md': '',
  'docs/deep/f.log': '',
  'node_modules/a/index.js': '',
};

it.each<[FileSelection, readonly string[]]>([
  [{ below: 'docs' }, ['docs/.gitignore', 'docs/deep/e.md']],
  [{ below: 'docs/deep' }, ['docs/deep/e.md']],
  [{ below: 'to-docs/deep/' }, ['docs/deep/e.md']],
  [{ below: 'docs', globs: ['deep/*'] }, ['docs/deep/e.md']],
  [{ below: 'docs', globs: ['docs/**'] }, []],
  [{ globs: ['docs/**/*.md'] }, ['docs/deep/e.md']],
  [{ recursive: false }, ['.gitignore', 'a.txt']],
  [{ below: 'docs', recursive: false }, ['docs/.gitignore']],
  [{ below: 'docs/deep', recursive: false, globs: ['*.md'] }, ['docs/deep/e.md']],
  [{ below: 'a.txt', recursive: false }, ['a.txt']],
  [{ below: 'a.txt' }, ['a.txt']],
  [{ below: 'a.txt', globs: ['*.md'] }, []],
  [{ below: 'docs/deep/e.md', globs: ['*.md'] }, ['docs/deep/e.md']],
  // A folder that is named is meant, although it is ignored where it lies.
  [{ below: 'build' }, ['build/b.txt']],
  [{ below: 'node_modules/a' }, ['node_modules/a/index.js']],
])('%j', async (selection, files) => {
  const { root, workspace } = await openTestWorkspace();
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  symlinkSync('docs', join(root, 'to-docs'));
  expect((await workspace.listFiles(100, selection)).files).toEqual(files);
});

it('is cut exactly at the limit, however many batches that takes', async () => {
  const { root, workspace } = await openTestWorkspace();
  for (let file = 100; file < 300; file += 1) writeFileSync(join(root, `${file}`), '');
  for (const limit of [63, 64, 65, 128, 199, 200, 201]) {
    const { files, truncated } = await workspace.listFiles(limit);
    expect([files.length, truncated]).toEqual([Math.min(limit, 200), limit < 200]);
  }
});

it('says so where there are too many entries to look at all of them', async () => {
  const root = await temporaryDirectory();
  for (const name of ['a', 'b', 'c']) writeFileSync(join(root, name), '');
  for (const [most, files] of [
    [3, ['a', 'b', 'c']],
    [2, ['a', 'b']],
  ] as const) {
    const walk = new FileWalk({ root, isOwn: () => false }, most);
    const found: string[] = [];
    for await (const batch of walk.files()) found.push(...batch);
    expect(found).toEqual(files);
    expect(walk.truncated).toBe(most < 3);
  }
});
