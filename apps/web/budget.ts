// The last step of the build: fails when the page has become larger than its budgets, and lists its largest parts.
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** JavaScript that every view needs, and everything there is, compressed. */
const FIRST_VIEW = 190 * 1024;
const TOTAL = 280 * 1024;
const folder = new URL('dist/', import.meta.url);
const document = readFileSync(new URL('index.html', folder), 'utf8');
const parts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:js|css)$/u.test(name))
  .map((name) => {
    const text = readFileSync(new URL(name, folder));
    return { name, text: text.toString(), bytes: gzipSync(text).length };
  })
  .toSorted((one, other) => other.bytes - one.bytes);

/** What the document names, and what that imports at once. */
const first = new Set(parts.filter(({ name }) => document.includes(name)));
for (const { text } of first) {
  const imported = Array.from(
    text.matchAll(/(?:from|import)\s*["'`]\.\/([^"'`]+)["'`]/gu),
    ([, name]) => name,
  );
  for (const part of parts)
    if (imported.some((name) => part.name.endsWith(`/${name}`))) first.add(part);
}
const sum = (which: Iterable<{ readonly bytes: number }>): number =>
  Array.from(which).reduce((bytes, part) => bytes + part.bytes, 0);
const firstView = sum([...first].filter(({ name }) => name.endsWith('.js')));
const total = sum(parts);
const kB = (bytes: number): string => `${(bytes / 1024).toFixed(1).padStart(7)} kB`;
for (const { name, bytes } of parts.slice(0, 5)) process.stdout.write(`${kB(bytes)}  ${name}\n`);
process.stdout.write(
  `${kB(firstView)}  JavaScript of the first view, of ${FIRST_VIEW / 1024} kB\n`,
);
process.stdout.write(`${kB(total)}  in all, of ${TOTAL / 1024} kB, compressed\n`);
process.exitCode = firstView > FIRST_VIEW || total > TOTAL ? 1 : 0;
