import { readdir, readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';

/** The text that the demo streams. */
export type DemoDocument = {
  readonly text: string;
  readonly lines: number;
  readonly files: number;
};

const ENOUGH_LINES = 24_000;
const LEAST_LINES = 20_001;

/**
 * The program text of this very command, one built file after the other, and of the last one as much as is needed,
 * so that the document does not grow with the way the program is divided. It is real text of the kind that models
 * write, full of blank lines and of lines that occur a thousand times, and it is there wherever the command is.
 */
export async function readDemoDocument(entry: string): Promise<DemoDocument> {
  const folder = extname(entry) === '.ts' ? join(dirname(entry), '..', 'dist') : dirname(entry);
  let text = '';
  let lines = 0;
  let files = 0;
  for (const file of await programFiles(folder)) {
    if (lines >= ENOUGH_LINES) break;
    const content = await readFile(join(folder, file), 'utf8');
    const section = [`// ${file}`, ...content.replace(/\n$/u, '').split('\n')];
    const taken = section.slice(0, ENOUGH_LINES - lines);
    text += `${taken.join('\n')}\n`;
    lines += taken.length;
    files += 1;
  }
  if (lines < LEAST_LINES) {
    throw new Error(
      `${folder} holds ${lines} lines of built program; the demo needs ${LEAST_LINES}.`,
    );
  }
  return { text, lines, files };
}

async function programFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  return entries
    .map((entry) => entry.replaceAll('\\', '/'))
    .filter((entry) => entry.endsWith('.js'))
    .toSorted();
}
