// The last step of the build: puts the built page into the compiled server, so that it reads no file when it serves.
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
const page = new URL('../node_modules/@orion/web/dist/', import.meta.url);
const embedded = new URL('../dist/page/embedded-page.js', import.meta.url);

/** Not all that lies there: some of it may be left of earlier builds. */
const built = JSON.parse(readFileSync(new URL('built-files.json', page), 'utf8'));
const files = ['index.html', ...Object.values(built).map(({ file }) => file)].map((name) => {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`The page has a file of an unknown type: ${name}`);
  const bytes = readFileSync(new URL(name, page));
  return { name, type, gzip: gzipSync(bytes, { level: 9 }).toString('base64') };
});
writeFileSync(embedded, `export const EMBEDDED_PAGE = ${JSON.stringify(files)};\n`);
