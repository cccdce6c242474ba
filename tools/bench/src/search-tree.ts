import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILES_OF_A_FOLDER = 20;
const LINES = [
  'export function describe(value: unknown): string {',
  "  const parts = ['one', 'two', 'three'].map((each) => each.toUpperCase());",
  '  if (typeof value === "string" && value.length > 80) return value.slice(0, 80);',
  '  // Nothing here is what is searched for, but some of it begins alike: needle, function need.',
  '  return `${parts.join(", ")}: ${String(value)}`;',
  '}',
  '',
  '    at Object.<anonymous> (/project/source/file.ts:12:34)',
] as const;

/** Makes text files that look like source, and has every fiftieth contain what the searches look for. */
export async function makeTree(root: string, files: number, bytes: number): Promise<void> {
  const size = Math.floor(bytes / files);
  for (let file = 0; file < files; file += 1) {
    const folder = join(root, `folder-${Math.floor(file / FILES_OF_A_FOLDER)}`);
    if (file % FILES_OF_A_FOLDER === 0) await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `file-${file}.ts`), textOf(file, size));
  }
}

function textOf(file: number, size: number): string {
  const lines: string[] = [];
  for (let length = 0, line = file; length < size; line += 1) {
    const text = LINES[line % LINES.length] ?? '';
    lines.push(text);
    length += text.length + 1;
  }
  if (file % 50 === 0) lines.splice(lines.length / 2, 0, `function needleOf${file}(): void {}`);
  return `${lines.join('\n')}\n`;
}
