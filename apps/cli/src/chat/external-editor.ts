import { spawn } from 'node:child_process';
import { lstat, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { CommandContext } from '../process/context.ts';
import type { Face } from './face.ts';

/** How editing ended; `message` is a sentence for the person, whose draft is as it was. */
export type EditedDraft =
  | { readonly kind: 'edited'; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string };

/** More than anybody types; what a model is sent has a limit of its own. */
const MAX_BYTES: number = 8 * 1024 * 1024;

/**
 * Lets the person edit a draft in `$VISUAL` or `$EDITOR`, else `vi`, which has the terminal meanwhile. The variable is
 * a shell line, as for other programs: `code --wait` works. The draft is in a file that its user alone can read, in a
 * folder of its own, which is removed afterwards with everything that the editor left beside it. Never rejects.
 */
export async function editExternally(
  draft: string,
  { environment }: Pick<CommandContext, 'environment'>,
  { lend }: Pick<Face, 'lend'>,
): Promise<EditedDraft> {
  const editor = [environment['VISUAL'], environment['EDITOR']].find(isNamed) ?? 'vi';
  let folder: string | null = null;
  try {
    // Of mode 0700.
    folder = await mkdtemp(join(tmpdir(), 'orion-prompt-'));
    const file = join(folder, 'prompt.md');
    await writeFile(file, draft, { flag: 'wx', mode: 0o600 });
    const ended: { trouble: string | null } = { trouble: null };
    await lend(async () => {
      ended.trouble = await runEditor(editor, file, environment);
    });
    const { trouble } = ended;
    return trouble === null ? await readBack(file, draft) : failed(`${editor} ${trouble}`);
  } catch (error) {
    return failed((error as Error).message);
  } finally {
    if (folder !== null) await rm(folder, { recursive: true }).catch(() => undefined);
  }
}

function isNamed(editor: string | undefined): editor is string {
  return editor !== undefined && editor.trim() !== '';
}

/** Null if the editor ended well, else what became of it. Rejects if no shell can be started. */
function runEditor(
  editor: string,
  file: string,
  environment: CommandContext['environment'],
): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$@"`, editor, file], {
      stdio: 'inherit',
      env: environment,
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) resolve(null);
      else resolve(code === null ? `was ended by ${signal}` : `ended with exit code ${code}`);
    });
  });
}

async function readBack(file: string, draft: string): Promise<EditedDraft> {
  const { size, isFile } = await lstat(file).then((stat) => ({
    size: stat.size,
    isFile: stat.isFile(),
  }));
  if (!isFile) return failed('the editor left no file');
  if (size > MAX_BYTES) return failed(`the text has more than ${MAX_BYTES} bytes`);
  const text = await readFile(file, 'utf8');
  // Most editors end the last line, which the person did not type.
  return { kind: 'edited', text: draft.endsWith('\n') ? text : text.replace(/\r?\n$/u, '') };
}

function failed(why: string): EditedDraft {
  return { kind: 'failed', message: `The prompt is as it was: ${why}.` };
}
