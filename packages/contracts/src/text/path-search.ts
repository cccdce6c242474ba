/** Paths prepared for a search while somebody types. */
export type PathIndex = {
  /** Folders end with a `/`. */
  readonly paths: readonly string[];
  readonly lowered: readonly string[];
};

/** Of a listing of files: with their folders, each before what is in it. */
export function indexPaths(files: readonly string[]): PathIndex {
  const paths: string[] = [];
  const folders = new Set<string>();
  for (const file of files) {
    for (let at = file.indexOf('/'); at !== -1; at = file.indexOf('/', at + 1)) {
      const folder = file.slice(0, at + 1);
      if (folders.has(folder)) continue;
      folders.add(folder);
      paths.push(folder);
    }
    paths.push(file);
  }
  return { paths, lowered: paths.map((path) => path.toLowerCase()) };
}

/**
 * The paths that fit best, the best first: those that begin with the query, whose name does, whose name or path contains
 * it, and last those that have its letters in order. Of equals the shorter one, then the first of the listing. Without a
 * query what is at the top. The cost grows with the length of all paths.
 */
export function bestPaths(
  { paths, lowered }: PathIndex,
  query: string,
  limit: number,
): readonly string[] {
  const wanted = query.toLowerCase();
  const best: { readonly index: number; readonly cost: number }[] = [];
  for (const [index, path] of lowered.entries()) {
    const cost = costOf(path, wanted);
    const worst = best.at(-1);
    if (cost === null || (best.length === limit && worst !== undefined && cost >= worst.cost)) {
      continue;
    }
    const at = best.findIndex((other) => cost < other.cost);
    best.splice(at === -1 ? best.length : at, 0, { index, cost });
    if (best.length > limit) best.pop();
  }
  return best.flatMap(({ index }) => paths[index] ?? []);
}

/** More than a path is long. */
const RANK = 1_000_000;

/** Null where it does not fit. */
function costOf(path: string, query: string): number | null {
  if (query === '') return depthOf(path) * RANK;
  if (path.startsWith(query)) return path.length;
  const nameAt = path.lastIndexOf('/', path.length - 2) + 1;
  if (path.startsWith(query, nameAt)) return RANK + path.length;
  if (path.includes(query, nameAt)) return 2 * RANK + path.length;
  if (path.includes(query)) return 3 * RANK + path.length;
  const gaps = gapsOf(path, query);
  return gaps === null ? null : 4 * RANK + gaps * 1000 + path.length;
}

function depthOf(path: string): number {
  let depth = 0;
  for (
    let at = path.indexOf('/');
    at !== -1 && at < path.length - 1;
    at = path.indexOf('/', at + 1)
  ) {
    depth += 1;
  }
  return depth;
}

/** Into how many pieces the letters of the query are divided in the path; null if it lacks one of them. */
function gapsOf(path: string, query: string): number | null {
  let gaps = 0;
  let from = 0;
  for (let index = 0; index < query.length; index += 1) {
    const at = path.indexOf(query.charAt(index), from);
    if (at === -1) return null;
    if (at !== from) gaps += 1;
    from = at + 1;
  }
  return gaps;
}
