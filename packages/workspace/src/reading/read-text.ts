/** Reads lines of a text file for the read tool. */
import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { OrionError, countLineFeeds } from '@orion/contracts';
import type { ReadRange, TextExcerpt } from '@orion/contracts';
import { readRange, readRegularFile } from '../disk/files.ts';
import { onDisk } from '../disk/disk-error.ts';
import { shown } from '../path-policy/parse-target.ts';
import { requireFile } from '../path-policy/path-policy.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';
import type { ScratchFiles } from '../scratch-files.ts';
import { incompleteTail } from '../session-dir/wtf8.ts';

const LF = 0x0a;
/** Counting the lines of a larger file takes too long. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** Scratch files are the only part of Orion's state that can be read. */
export async function readWorkspaceText(
  policy: PathPolicy,
  scratch: ScratchFiles,
  target: string,
  range: ReadRange,
): Promise<TextExcerpt> {
  const found = await policy.containReadable(target, (path) => scratch.holds(path));
  const { path, realPath } = found;
  requireFile(found);
  return onDisk(`read ${shown(path)}`, () => readText(path, realPath, range));
}

async function readText(path: string, realPath: string, range: ReadRange): Promise<TextExcerpt> {
  const excerpt = await readRegularFile(realPath, async (handle) => {
    const { size } = await handle.stat();
    if (size <= MAX_FILE_BYTES) return readLines(handle, path, range);
    throw new OrionError({
      code: 'CONTENT_TOO_LARGE',
      message: `${shown(path)} has ${size} bytes, more than ${MAX_FILE_BYTES}.`,
      hint: 'Read a smaller file.',
    });
  });
  if (excerpt !== null) return excerpt;
  throw new OrionError({ code: 'FILE_NOT_FOUND', message: `There is no file ${shown(path)}.` });
}

async function readLines(handle: FileHandle, path: string, range: ReadRange): Promise<TextExcerpt> {
  const firstLine = Math.max(1, range.firstLine ?? 1);
  const collector = new LineCollector({ ...range, firstLine });
  for await (const chunk of readRange(handle, 0)) {
    if (chunk.includes(0)) throw notText(path);
    collector.add(chunk);
  }
  const bytes = collector.excerpt();
  if (!isUtf8(bytes)) throw notText(path);
  const totalLines = collector.totalLines();
  const lastLine = firstLine - 1 + linesIn(countLineFeeds(bytes), bytes.at(-1));
  return {
    path,
    content: bytes.toString('utf8'),
    firstLine,
    lastLine,
    totalLines,
    totalBytes: collector.totalBytes,
    truncated: collector.cut || lastLine < totalLines,
  };
}

/** Counts an unterminated last line, too. */
function linesIn(lineFeeds: number, last: number | undefined): number {
  return lineFeeds + (last === undefined || last === LF ? 0 : 1);
}

/** Keeps the requested lines while the whole file is scanned. */
class LineCollector {
  totalBytes = 0;
  /** A requested line did not fit. */
  cut = false;
  readonly #range: Required<ReadRange>;
  readonly #pieces: Buffer[] = [];
  #kept = 0;
  #lineFeeds = 0;
  #last: number | undefined;

  constructor(range: Required<ReadRange>) {
    this.#range = range;
  }

  add(chunk: Buffer): void {
    let from = 0;
    while (from < chunk.length) {
      const feed = chunk.indexOf(LF, from);
      const to = feed === -1 ? chunk.length : feed + 1;
      this.#take(chunk.subarray(from, to));
      if (feed !== -1) this.#lineFeeds += 1;
      from = to;
    }
    this.totalBytes += chunk.length;
    this.#last = chunk.at(-1) ?? this.#last;
  }

  #take(piece: Buffer): void {
    const { firstLine, maxLines, maxBytes } = this.#range;
    const line = this.#lineFeeds + 1;
    if (line < firstLine || line >= firstLine + maxLines || this.cut) return;
    const room = maxBytes - this.#kept;
    if (piece.length > room) this.cut = true;
    const kept = piece.subarray(0, Math.max(0, room));
    this.#pieces.push(Buffer.from(kept));
    this.#kept += kept.length;
  }

  excerpt(): Buffer {
    const bytes = Buffer.concat(this.#pieces);
    return this.cut ? bytes.subarray(0, bytes.length - incompleteTail(bytes)) : bytes;
  }

  totalLines(): number {
    return linesIn(this.#lineFeeds, this.#last);
  }
}

function notText(path: string): OrionError {
  return new OrionError({
    code: 'INVALID_CONTENT',
    message: `${shown(path)} is not a UTF-8 text file.`,
    hint: 'Read a text file.',
  });
}
