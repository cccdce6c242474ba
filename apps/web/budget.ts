// The last step of the build: fails when the page has become larger than its budgets, and lists its largest parts.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** JavaScript that every view needs, and everything there is, compressed. */
const FIRST_VIEW = 190 * 1024;
const TOTAL = 280 * 1024;

/** By the name of its source; `imports` are those that it needs at once. */
type Built = Readonly<Record<string, { readonly file: string; readonly imports?: string[] }>>;

const folder = new URL('dist/', import.meta.url);
const built = JSON.parse(readFileSync(new URL('built-files.json', folder), 'utf8')) as Built;
const parts = Object.entries(built)
  .map(([source, { file }]) => ({
    source,
    name: file,
    bytes: gzipSync(readFileSync(new URL(file, folder))).length,
  }))
  .toSorted((one, other) => other.bytes - one.bytes);

/** What the document names, and what that imports at once. */
const first = new Set(['index.html']);
for (const source of first)
  for (const imported of built[source]?.imports ?? []) first.add(imported);

const sum = (which: Iterable<{ readonly bytes: number }>): number =>
  Array.from(which).reduce((bytes, part) => bytes + part.bytes, 0);
const firstView = sum(parts.filter(({ source }) => first.has(source)));
const total = sum(parts);
const kB = (bytes: number): string => `${(bytes / 1024).toFixed(1).padStart(7)} kB`;
for (const { name, bytes } of parts.slice(0, 5)) process.stdout.write(`${kB(bytes)}  ${name}\n`);
process.stdout.write(
  `${kB(firstView)}  JavaScript of the first view, of ${FIRST_VIEW / 1024} kB\n`,
);
process.stdout.write(`${kB(total)}  in all, of ${TOTAL / 1024} kB, compressed\n`);
process.exitCode = firstView > FIRST_VIEW || total > TOTAL ? 1 : 0;
