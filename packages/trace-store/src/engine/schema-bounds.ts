import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Whether the schema in a SQLite file is small, judged by its bytes.
 *
 * SQLite reads the whole schema before it runs anything. With several hundred thousand tables that takes minutes, and
 * nothing can interrupt it. So the pages of the schema are inspected first, both in the file and in the journal beside
 * it, which may have newer ones. Our schema takes one page or a few. An invalid page is left to SQLite, which refuses
 * it.
 *
 * The format: https://www.sqlite.org/fileformat2.html
 */
export function isSchemaSmall(path: string): boolean {
  return withFile(path, (file) => {
    const header = read(file, 0, FILE_HEADER);
    if (header === null || header.toString('latin1', 0, MAGIC.length) !== MAGIC) return true;
    const pageSize = pageSizeOf(header.readUInt16BE(16));
    return withFile(`${path}-wal`, (journal) => {
      const newer = journal === null ? [] : framesOf(journal, pageSize);
      const images = (page: number): readonly Buffer[] => {
        const inFile = read(file, (page - 1) * pageSize, pageSize);
        const inJournal = newer
          .filter((frame) => frame.page === page)
          .map((frame) => read(journal, frame.start, pageSize));
        return [inFile, ...inJournal].filter((image) => image !== null);
      };
      return images(1).every((image) => isRootSmall(image, images));
    });
  });
}

const MAGIC = 'SQLite format 3\u0000';
const FILE_HEADER = 100;
const INTERIOR = 0x05;
const LEAF = 0x0d;
/** Pages of the schema in addition to the first one, and objects on a page. */
const MAX_CHILDREN = 16;
const MAX_CELLS = 64;
/** Bytes in the row of one object. */
const MAX_PAYLOAD = 16_384;
const JOURNAL_HEADER = 32;
const FRAME_HEADER = 24;
const READ_FLAGS: number = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function isRootSmall(image: Buffer, images: (page: number) => readonly Buffer[]): boolean {
  if (image[FILE_HEADER] !== INTERIOR) return isLeafSmall(image, FILE_HEADER);
  const cells = image.readUInt16BE(FILE_HEADER + 3);
  if (cells > MAX_CHILDREN) return false;
  const children = [image.readUInt32BE(FILE_HEADER + 8)];
  for (let cell = 0; cell < cells; cell += 1) {
    const at = image.readUInt16BE(FILE_HEADER + 12 + cell * 2);
    if (at + 4 <= image.length) children.push(image.readUInt32BE(at));
  }
  return children.every((page) =>
    images(page).every((child) => child[0] !== INTERIOR && isLeafSmall(child, 0)),
  );
}

function isLeafSmall(image: Buffer, start: number): boolean {
  if (image[start] !== LEAF) return true;
  const cells = image.readUInt16BE(start + 3);
  if (cells > MAX_CELLS) return false;
  for (let cell = 0; cell < cells; cell += 1) {
    const at = image.readUInt16BE(start + 8 + cell * 2);
    if (readVarint(image, at) > MAX_PAYLOAD) return false;
  }
  return true;
}

/** Seven bits per byte; the high bit means that more follow. A ninth byte would count whole, but ours are shorter. */
function readVarint(image: Buffer, start: number): number {
  let value = 0;
  for (let at = start; at < start + 9; at += 1) {
    const byte = image[at] ?? 0;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) break;
  }
  return value;
}

type Frame = { readonly page: number; readonly start: number };

/** The pages in a write-ahead journal, whether they are valid or not. */
function framesOf(journal: number, pageSize: number): readonly Frame[] {
  const frames: Frame[] = [];
  const { size } = fstatSync(journal);
  for (
    let start = JOURNAL_HEADER;
    start + FRAME_HEADER + pageSize <= size;
    start += FRAME_HEADER + pageSize
  ) {
    const header = read(journal, start, 4);
    if (header !== null) frames.push({ page: header.readUInt32BE(0), start: start + FRAME_HEADER });
  }
  return frames;
}

function pageSizeOf(stored: number): number {
  return stored === 1 ? 65_536 : Math.max(512, stored);
}

/** Null if the file has no such bytes: beyond its end, or in page 0, which does not exist. */
function read(file: number | null, start: number, length: number): Buffer | null {
  if (file === null || start < 0) return null;
  const buffer = Buffer.alloc(length);
  return readSync(file, buffer, 0, length, start) === length ? buffer : null;
}

/** Passes null if the file is missing or is not a regular file. */
function withFile<Result>(path: string, use: (file: number | null) => Result): Result {
  let file: number | null = null;
  try {
    file = openSync(path, READ_FLAGS);
  } catch {
    // The next one to open it reports why.
  }
  try {
    return use(file !== null && fstatSync(file).isFile() ? file : null);
  } finally {
    if (file !== null) closeSync(file);
  }
}
