import { chmod, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { editExternally } from './external-editor.ts';

/** Hazard: a prompt is lost in an editor, stays behind on the disk, or is read by somebody else. */

async function editorOf(script: string) {
  const folder = await mkdtemp(join(tmpdir(), 'orion-editor-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const editor = join(folder, 'my editor');
  const record = join(folder, 'record');
  await writeFile(editor, `#!/bin/sh\nfor last; do :; done\n${script}\n`);
  await chmod(editor, 0o755);
  const environment = { PATH: process.env['PATH'] ?? '', RECORD: record };
  const lent: string[] = [];
  const lend = async (use: () => Promise<void>): Promise<void> => {
    lent.push('begin');
    await use();
    lent.push('end');
  };
  const edit = (draft: string, more: Readonly<Record<string, string>> = {}) =>
    editExternally(
      draft,
      { environment: { ...environment, EDITOR: `'${editor}' --wait "two words"`, ...more } },
      { lend },
    );
  return { edit, editor, lent, record: () => readFile(record, 'utf8') };
}

const drafts = async () =>
  (await readdir(tmpdir())).filter((name) => name.startsWith('orion-prompt-'));

it('is edited in a private file, with the arguments of the variable, and nothing is left', async () => {
  const before = await drafts();
  const { edit, lent, record } = await editorOf(
    'ls -ld "$(dirname "$last")" "$last" | cut -c1-10 > "$RECORD"; echo "$# $1 $2" >> "$RECORD"; cat "$last" >> "$RECORD"; echo more >> "$last"; touch "$last~"',
  );
  expect(await edit('a draft')).toEqual({ kind: 'edited', text: 'a draftmore' });
  expect(await record()).toBe('drwx------\n-rw-------\n3 --wait two words\na draft');
  expect(lent).toEqual(['begin', 'end']);
  expect(await drafts()).toEqual(before);
});

it.each([
  ['a', 'printf "b\\n"', 'b'],
  ['a\n', 'printf "b\\n"', 'b\n'],
  ['a', 'printf "b\\r\\n\\r\\n"', 'b\r\n'],
  ['a', 'printf ""', ''],
])('%j becomes what %s leaves', async (draft, command, text) => {
  const { edit } = await editorOf(`${command} > "$last"`);
  expect(await edit(draft)).toEqual({ kind: 'edited', text });
});

it.each([
  [
    'echo lost > "$last"; exit 3',
    /^The prompt is as it was: .*my editor.* ended with exit code 3\.$/u,
  ],
  ['rm "$last"', /as it was: .*ENOENT/u],
  ['rm "$last"; ln -s /etc/passwd "$last"', /as it was: the editor left no file/u],
  ['head -c 8388609 /dev/zero > "$last"', /as it was: the text has more than 8388608 bytes/u],
])('%s leaves the draft as it was', async (script, message) => {
  const before = await drafts();
  const { edit } = await editorOf(script);
  expect(await edit('a draft')).toEqual({
    kind: 'failed',
    message: expect.stringMatching(message),
  });
  expect(await drafts()).toEqual(before);
});

it('prefers $VISUAL, and takes an empty variable for none', async () => {
  const { edit, editor } = await editorOf('echo "$0" > "$last"');
  const visual = `echo visual > "$1"; true`;
  expect(await edit('x', { VISUAL: visual })).toEqual({ kind: 'edited', text: 'visual' });
  expect(await edit('x', { VISUAL: ' ' })).toEqual({ kind: 'edited', text: editor });
});

it('is `vi` where the person chose none', async () => {
  const { edit, editor } = await editorOf('echo "by $0" > "$last"');
  const folder = dirname(editor);
  await rename(editor, join(folder, 'vi'));
  const made = await edit('x', { EDITOR: '', PATH: `${folder}:${process.env['PATH'] ?? ''}` });
  expect(made).toEqual({ kind: 'edited', text: `by ${join(folder, 'vi')}` });
});

it('takes a text of exactly 8 MiB', async () => {
  const { edit } = await editorOf('head -c 8388608 /dev/zero | tr "\\0" x > "$last"');
  const made = await edit('a draft');
  expect(made.kind === 'edited' && made.text.length).toBe(8_388_608);
});

it('leaves the draft where the terminal cannot be lent', async () => {
  const before = await drafts();
  const lend = (): Promise<void> => Promise.reject(new Error('the terminal is gone'));
  expect(await editExternally('x', { environment: {} }, { lend })).toEqual({
    kind: 'failed',
    message: 'The prompt is as it was: the terminal is gone.',
  });
  expect(await drafts()).toEqual(before);
});

it('says when there is no such editor', async () => {
  const { edit } = await editorOf('');
  const made = await edit('x', { EDITOR: 'no-such-editor-anywhere 2>/dev/null' });
  expect(made).toMatchObject({ kind: 'failed', message: expect.stringContaining('exit code 127') });
});
