/** Reads lines of a text file for the read tool. */
import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { OrionError, countLineFeeds } from '@orion/contracts';
import type { JsonObject, ReadRange, TextExcerpt } from '@orion/contracts';
import { readBytes, readRange, readRegularFile } from '../disk/files.ts';
import { onDisk } from '../disk/disk-error.ts';
import { shown } from '../path-policy/parse-target.ts';
import { requireFile } from '../path-policy/path-policy.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';
import type { ScratchFiles } from '../scratch-files.ts';
import { incompleteTail } from '../session-dir/wtf8.ts';
import { fileTypeOf, TYPE_BYTES } from './file-type.ts';
import { TextTail } from './text-tail.ts';

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
    const limit = Math.min(range.maxFileBytes ?? MAX_FILE_BYTES, MAX_FILE_BYTES);
    if (size <= limit) return readLines(handle, path, range);
    throw new OrionError({
      code: 'CONTENT_TOO_LARGE',
      message: `${shown(path)} has ${size} bytes, more than ${limit}.`,
      hint: 'Read a smaller file.',
    });
  });
  if (excerpt !== null) return excerpt;
  throw new OrionError({ code: 'FILE_NOT_FOUND', message: `There is no file ${shown(path)}.` });
}

async function readLines(handle: FileHandle, path: string, range: ReadRange): Promise<TextExcerpt> {
  const firstLine = Math.max(1, range.firstLine ?? 1);
  const collector = new LineCollector({ ...range, firstLine });
  const tail = new TextTail(range.tailBytes ?? 0);
  const utf16 = utf16Of(await readBytes(handle, 2));
  let totalBytes = 0;
  const chunks = counted(readRange(handle, 0), (bytes) => (totalBytes += bytes));
  for await (const chunk of utf16 === null ? chunks : decoded(chunks, utf16, path)) {
    if (chunk.includes(0)) throw await binaryFile(handle, path);
    collector.add(chunk);
    tail.add(chunk);
  }
  const bytes = collector.excerpt();
  const end = tail.lines();
  const encoding = utf16 ?? (isUtf8(bytes) && isUtf8(end) ? 'utf-8' : 'latin1');
  const inTheEnd = encoding === 'latin1' ? 'latin1' : 'utf8';
  const totalLines = collector.totalLines();
  const lastLine = firstLine - 1 + linesIn(countLineFeeds(bytes), bytes.at(-1));
  const truncated = collector.cut || lastLine < totalLines;
  return {
    path,
    encoding,
    content: bytes.toString(inTheEnd),
    firstLine,
    lastLine,
    totalLines,
    totalBytes,
    truncated,
    ...(truncated && range.tailBytes !== undefined
      ? {
          tail: {
            content: end.toString(inTheEnd),
            firstLine: totalLines - linesIn(countLineFeeds(end), end.at(-1)) + 1,
          },
        }
      : {}),
  };
}

async function binaryFile(handle: FileHandle, path: string): Promise<OrionError> {
  const { size } = await handle.stat();
  const type = fileTypeOf(await readBytes(handle, TYPE_BYTES));
  return notText(path, 'is a binary file', { bytes: size, type });
}

/** UTF-16 is recognised by its byte order mark alone. */
function utf16Of(beginning: Buffer): 'utf-16le' | 'utf-16be' | null {
  if (beginning[0] === 0xff && beginning[1] === 0xfe) return 'utf-16le';
  return beginning[0] === 0xfe && beginning[1] === 0xff ? 'utf-16be' : null;
}

async function* counted(
  chunks: AsyncIterable<Buffer>,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}

/** The text as UTF-8, without its byte order mark. */
async function* decoded(
  chunks: AsyncIterable<Buffer>,
  encoding: 'utf-16le' | 'utf-16be',
  path: string,
): AsyncGenerator<Buffer, void, undefined> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }));
    yield Buffer.from(decoder.decode());
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw notText(path, 'begins like a text in UTF-16 and is none');
  }
}

/** Counts an unterminated last line, too. */
function linesIn(lineFeeds: number, last: number | undefined): number {
  return lineFeeds + (last === undefined || last === LF ? 0 : 1);
}

type LineRange = ReadRange & { readonly firstLine: number };

/** Keeps the requested lines while the whole file is scanned. */
class LineCollector {
  /** A requested line did not fit. */
  cut = false;
  readonly #range: LineRange;
  readonly #pieces: Buffer[] = [];
  #kept = 0;
  #lineFeeds = 0;
  #last: number | undefined;

  constructor(range: LineRange) {
    this.#range = range;
  }

  /** The requested lines of a chunk lie together, and are kept as one piece: a file may have millions of them. */
  add(chunk: Buffer): void {
    const { firstLine, maxLines } = this.#range;
    let start = chunk.length;
    let end = chunk.length;
    for (let from = 0; from < chunk.length;) {
      const line = this.#lineFeeds + 1;
      if (line >= firstLine) start = Math.min(start, from);
      if (line >= firstLine + maxLines) end = Math.min(end, from);
      const feed = chunk.indexOf(LF, from);
      if (feed !== -1) this.#lineFeeds += 1;
      from = feed === -1 ? chunk.length : feed + 1;
    }
    if (start < end) this.#take(chunk.subarray(start, end));
    this.#last = chunk.at(-1) ?? this.#last;
  }

  #take(piece: Buffer): void {
    if (this.cut) return;
    const room = this.#range.maxBytes - this.#kept;
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

function notText(path: string, why: string, details: JsonObject = {}): OrionError {
  return new OrionError({
    code: 'INVALID_CONTENT',
    message: `${shown(path)} ${why}.`,
    hint: 'Read a text file.',
    details,
  });
}
