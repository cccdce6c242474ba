import { link, mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, parse, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const REFUSED = /^R244: /u;
const HERE = import.meta.filename;
// In a folder that does not exist: without the guard these tests fail, and change nothing.
const ELSEWHERE = join(parse(tmpdir()).root, 'never-made', 'file');

describe('R244: a unit test writes to the temporary folder only', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a file', () => writeFile(ELSEWHERE, '')],
    ['a folder, by a relative path', () => mkdir(relative(process.cwd(), ELSEWHERE))],
    ['a user’s configuration', () => mkdir(join(homedir(), 'never-made', 'orion'))],
    ['a file that is opened to be written', () => open(ELSEWHERE, 'wx')],
    ['a removal', () => rm(ELSEWHERE, { force: true })],
    ['a second name', () => link(join(tmpdir(), 'never-made'), ELSEWHERE)],
    ['a move out', () => rename(join(tmpdir(), 'never-made'), ELSEWHERE)],
    ['a way out of the temporary folder', () => writeFile(`${tmpdir()}/../never-made/file`, '')],
    ['a URL', () => writeFile(pathToFileURL(ELSEWHERE), '')],
  ])('refuses %s', async (_name, write) => {
    await expect(write()).rejects.toThrow(REFUSED);
  });

  it('lets a test read, and write below the temporary folder', async () => {
    expect(await readFile(HERE, 'utf8')).toContain('R244');
    await (await open(HERE, 'r')).close();
    const folder = await mkdtemp(join(tmpdir(), 'orion-guard-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'a'), 'a');
    await rename(join(folder, 'a'), join(folder, 'b'));
    expect(await readFile(join(folder, 'b'), 'utf8')).toBe('a');
  });
});
