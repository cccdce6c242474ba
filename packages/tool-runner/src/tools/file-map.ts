/** What a map may take. */
export type FileMapLimits = { readonly maxLines: number; readonly maxBytes: number };

export type FileMap = {
  /** Files, and folders with the number of the files below them, such as `docs/ (12 files)`. */
  readonly lines: readonly string[];
  readonly hasFolders: boolean;
  /** Files that are neither listed nor counted in a folder. */
  readonly leftOut: number;
};

type Folder = {
  readonly path: string;
  readonly depth: number;
  readonly parent: Folder | null;
  readonly entries: (Folder | string)[];
  files: number;
  isFolded: boolean;
  /** What it and everything below it take now. */
  lines: number;
  bytes: number;
};

/**
 * Shows as much of a tree as fits: folders are folded to one line, the deepest first and of those the largest. The cost
 * grows with the number of names. `paths` are sorted; `nameOf` writes a name the way the reader sees it.
 */
export function fileMap(
  paths: readonly string[],
  { maxLines, maxBytes }: FileMapLimits,
  nameOf: (path: string) => string = (path) => path,
): FileMap {
  const sizeOf = (line: string): number => Buffer.byteLength(line) + 1;
  const root = newFolder('', null);
  const folders = new Map([['', root]]);
  for (const path of paths) addFile(folders, path, sizeOf(nameOf(path)));
  const fits = (): boolean => root.lines <= maxLines && root.bytes <= maxBytes;
  const lineOf = (folder: Folder): string =>
    `${nameOf(folder.path)} (${folder.files} ${folder.files === 1 ? 'file' : 'files'})`;

  const byDepth = Map.groupBy(folders.values(), ({ depth }) => depth);
  for (const [depth, level] of [...byDepth].toSorted(([a], [b]) => b - a)) {
    if (depth === 0 || fits()) break;
    for (const folder of level.toSorted((a, b) => b.lines - a.lines)) {
      if (fits()) break;
      fold(folder, sizeOf(lineOf(folder)));
    }
  }
  const lines: string[] = [];
  let bytes = 0;
  let shown = 0;
  let hasFolders = false;
  const visit = (folder: Folder): void => {
    for (const entry of folder.entries) {
      if (typeof entry !== 'string' && !entry.isFolded) {
        visit(entry);
        continue;
      }
      const line = typeof entry === 'string' ? nameOf(entry) : lineOf(entry);
      bytes += sizeOf(line);
      if (lines.length === maxLines || bytes > maxBytes) return;
      lines.push(line);
      shown += typeof entry === 'string' ? 1 : entry.files;
      hasFolders ||= typeof entry !== 'string';
    }
  };
  visit(root);
  return { lines, hasFolders, leftOut: paths.length - shown };
}

function newFolder(path: string, parent: Folder | null): Folder {
  const depth = parent === null ? 0 : parent.depth + 1;
  return { path, depth, parent, entries: [], files: 0, isFolded: false, lines: 0, bytes: 0 };
}

function addFile(folders: Map<string, Folder>, path: string, bytes: number): void {
  const folder = folderOf(folders, path.slice(0, path.lastIndexOf('/') + 1));
  folder.entries.push(path);
  for (let each: Folder | null = folder; each !== null; each = each.parent) {
    each.files += 1;
    each.lines += 1;
    each.bytes += bytes;
  }
}

/** `path` ends in `/`, or is empty. */
function folderOf(folders: Map<string, Folder>, path: string): Folder {
  const known = folders.get(path);
  if (known !== undefined) return known;
  const parent = folderOf(folders, path.slice(0, path.lastIndexOf('/', path.length - 2) + 1));
  const folder = newFolder(path, parent);
  parent.entries.push(folder);
  folders.set(path, folder);
  return folder;
}

/** A folder of one line would not become shorter. */
function fold(folder: Folder, bytes: number): void {
  if (folder.lines < 2) return;
  const saved = { lines: folder.lines - 1, bytes: folder.bytes - bytes };
  folder.isFolded = true;
  for (let each: Folder | null = folder; each !== null; each = each.parent) {
    each.lines -= saved.lines;
    each.bytes -= saved.bytes;
  }
}
