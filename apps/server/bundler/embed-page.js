// The last step of the build: puts the built page into the compiled server, so that it reads no file when it serves.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
const page = new URL('../node_modules/@orion/web/dist/', import.meta.url);
const embedded = new URL('../dist/page/embedded-page.js', import.meta.url);

const files = readdirSync(page, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((name) => statSync(new URL(name, page)).isFile())
  .toSorted()
  .map((name) => {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
    if (type === undefined) throw new Error(`The page has a file of an unknown type: ${name}`);
    const bytes = readFileSync(new URL(name, page));
    return { name, type, gzip: gzipSync(bytes, { level: 9 }).toString('base64') };
  });
if (!files.some(({ name }) => name === 'index.html')) throw new Error('The page is not built.');
writeFileSync(embedded, `export const EMBEDDED_PAGE = ${JSON.stringify(files)};\n`);
