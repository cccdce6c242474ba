import { COMPILE } from '../thread/killable-thread.ts';
import type { ThreadProgram } from '../thread/killable-thread.ts';

/** What the thread is started with. */
export type SearchData = {
  /** Resolved; ends in a separator. */
  readonly root: string;
  /** Whether `/proc/self/fd` says where an opened file is. */
  readonly hasDescriptorPaths: boolean;
  /** Applied to each line by itself. */
  readonly pattern: string;
  /** Finds at least the same lines in a whole text, without crossing one; null if there is no such expression. */
  readonly scan: string | null;
  /** A file without these bytes has no match, unless it is UTF-16. */
  readonly needle: string | null;
  readonly ignoreCase: boolean;
  readonly contextLines: number;
  readonly maxMatches: number;
  readonly maxFileBytes: number;
  readonly maxLineLength: number;
  readonly maxShownLength: number;
  /** The index in the batch of the file that is being searched, for the report of a thread that was stopped. */
  readonly progress: Int32Array;
};

/**
 * The search of files by an expression, for a killable thread (R284). It receives batches of paths and answers each
 * with the files that match, one by one, and then with counts.
 *
 * S1. A file is opened without following a link at its end and without waiting for a pipe. What was opened must be a
 *     regular file in the place that was listed: a folder above it may have become a link since.
 * S2. The expression decides line by line. The scan of a whole text only finds lines worth deciding, faster.
 * S3. The work is linear in the bytes of a file, apart from what the expression itself does in one line.
 */
export const SEARCH_PROGRAM: ThreadProgram = `${COMPILE}${String.raw`
const { parentPort, workerData } = require('node:worker_threads');
const { isAscii, isUtf8 } = require('node:buffer');
const fs = require('node:fs');
const {
  root, hasDescriptorPaths, pattern, scan, needle, ignoreCase, contextLines,
  maxMatches, maxFileBytes, maxLineLength, maxShownLength, progress,
} = workerData;

const FLAGS = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK;
const needleBytes = needle === null ? null : Buffer.from(needle);
let memory = Buffer.allocUnsafeSlow(64 * 1024);
let room = maxMatches;
let line, whole;

function isWhereListed(fd, path) {
  return path === (hasDescriptorPaths ? fs.readlinkSync('/proc/self/fd/' + fd) : fs.realpathSync(path));
}

/** The bytes, or the reason why there are none. They are valid until the next read. */
function read(path) {
  let fd;
  try { fd = fs.openSync(path, FLAGS); } catch { return 'unreadable'; }
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFile() || !isWhereListed(fd, path)) return 'unreadable';
    if (stat.size > maxFileBytes) return 'tooLarge';
    grow(stat.size + 1, 0);
    let size = 0;
    for (;;) {
      if (size === memory.length) grow(size * 2, size);
      const count = fs.readSync(fd, memory, size, memory.length - size, null);
      size += count;
      if (size > maxFileBytes) return 'tooLarge';
      if (count === 0 || (size === stat.size && size < memory.length)) return memory.subarray(0, size);
    }
  } catch {
    return 'unreadable';
  } finally {
    fs.closeSync(fd);
  }
}

function grow(wanted, kept) {
  if (wanted <= memory.length) return;
  const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(wanted, memory.length * 2), maxFileBytes + 1));
  memory.copy(larger, 0, 0, kept);
  memory = larger;
}

/** The text and its encoding; null without a match; or the reason why there is no text. */
function decode(bytes) {
  if (bytes.length >= 2 && bytes[0] === 0xff && bytes[1] === 0xfe) return wide(bytes, 'utf-16le');
  if (bytes.length >= 2 && bytes[0] === 0xfe && bytes[1] === 0xff) return wide(bytes, 'utf-16be');
  if (bytes.indexOf(0) !== -1) return 'binary';
  if (needleBytes !== null && bytes.indexOf(needleBytes) === -1) return null;
  if (isAscii(bytes)) return { text: bytes.latin1Slice(), encoding: 'utf-8' };
  if (!isUtf8(bytes)) return { text: bytes.latin1Slice(), encoding: 'latin1' };
  const text = bytes.utf8Slice();
  return { text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, encoding: 'utf-8' };
}

function wide(bytes, encoding) {
  return { text: new TextDecoder(encoding).decode(bytes), encoding };
}

function hasLongLine(text) {
  let at = 0;
  while (text.length - at > maxLineLength) {
    const feed = text.lastIndexOf('\n', at + maxLineLength);
    if (feed < at) return true;
    at = feed + 1;
  }
  return false;
}

function lineStart(text, at) {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

function lineEnd(text, at) {
  const feed = text.indexOf('\n', at);
  return feed === -1 ? text.length : feed;
}

/** A line as the expression sees it. */
function lineAt(text, start, end) {
  const cut = text.slice(start, Math.min(end, start + maxLineLength));
  return cut.endsWith('\r') && end - start <= maxLineLength ? cut.slice(0, -1) : cut;
}

/** The first matching line from here, where a line starts. */
function nextMatch(text, from, scanner) {
  let at = from;
  while (at < text.length) {
    if (scanner !== null) {
      scanner.lastIndex = at;
      const found = scanner.exec(text);
      if (found === null) return null;
      at = lineStart(text, found.index);
      if (at === text.length) return null;
    }
    const end = lineEnd(text, at);
    const found = line.exec(lineAt(text, at, end));
    if (found !== null) return { start: at, end, index: found.index };
    at = end + 1;
  }
  return null;
}

/** A line as it is shown: around the match, if it is long. */
function shown(text, start, end, index) {
  const whole = lineAt(text, start, end);
  const from = index > maxShownLength - 100 ? index - 100 : 0;
  const cut = whole.slice(from, from + maxShownLength).toWellFormed();
  const isCut = from + maxShownLength < whole.length || end - start > maxLineLength;
  return (from > 0 ? '…' : '') + cut + (isCut ? '…' : '');
}

/** The matching lines of a text, with those around them. */
function searchText(text, scanner) {
  const lines = [];
  let matches = 0;
  let more = false;
  let printed = 0;
  let number = 1;
  let counted = 0;
  const print = (start, end, isMatch, index) => {
    for (let feed = text.indexOf('\n', counted); feed !== -1 && feed < start; feed = text.indexOf('\n', counted)) {
      number++;
      counted = feed + 1;
    }
    lines.push({ line: number, text: shown(text, start, end, index), isMatch });
    printed = end + 1;
  };
  const printAfter = (limit) => {
    for (let left = contextLines; left > 0 && printed < limit; left--) print(printed, lineEnd(text, printed), false, 0);
  };
  let at = 0;
  for (;;) {
    const found = nextMatch(text, at, scanner);
    if (found !== null && matches === room) more = true;
    if (found === null || more) break;
    if (matches > 0) printAfter(found.start);
    const before = [];
    for (let start = found.start; before.length < contextLines && start > printed;) {
      start = lineStart(text, start - 1);
      before.unshift(start);
    }
    for (const start of before) print(start, lineEnd(text, start), false, 0);
    print(found.start, found.end, true, found.index);
    matches++;
    at = found.end + 1;
  }
  if (matches > 0) printAfter(text.length);
  return { lines, matches, more };
}

function searchFile(path, counts) {
  const bytes = read(root + path);
  if (typeof bytes === 'string') { counts[bytes]++; return; }
  const decoded = decode(bytes);
  if (typeof decoded === 'string') { counts[decoded]++; return; }
  counts.searched++;
  if (decoded === null) return;
  const { text, encoding } = decoded;
  const isLong = hasLongLine(text);
  if (isLong) counts.longLines++;
  let found;
  try {
    found = searchText(text, isLong ? null : whole);
  } catch {
    counts.searched--;
    counts.unreadable++;
    return;
  }
  const { lines, matches, more } = found;
  room -= matches;
  if (matches > 0) parentPort.postMessage({ file: { path, encoding, lines }, matches });
  if (more) {
    counts.searched--;
    counts.more = path;
  }
}

try {
  const flags = ignoreCase ? 'i' : '';
  line = compile(pattern, flags);
  whole = scan === null ? null : compile(scan, flags + 'gm');
} catch (error) {
  parentPort.postMessage({ invalid: error.message });
}
if (line !== undefined) {
  parentPort.on('message', (paths) => {
    const counts = { searched: 0, binary: 0, tooLarge: 0, unreadable: 0, longLines: 0, more: null };
    for (let index = 0; index < paths.length && counts.more === null; index++) {
      Atomics.store(progress, 0, index);
      searchFile(paths[index], counts);
    }
    parentPort.postMessage({ counts });
  });
  parentPort.postMessage({ ready: true });
}
`}`;
