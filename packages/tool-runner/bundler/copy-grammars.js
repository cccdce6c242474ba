// Copies the grammars beside the module that loads them, with the licences of the packages they come from. Those are
// needed for development only: they hold their sources and native builds, too, and would bring 40 MB.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

import { GRAMMAR_FILES, PARSER_FILE } from '../dist/definitions/grammar-files.js';

const target = fileURLToPath(new URL('../dist/definitions/grammars/', import.meta.url));
const files = [PARSER_FILE, ...Object.values(GRAMMAR_FILES)];
mkdirSync(target, { recursive: true });
const installed = (file) => fileURLToPath(import.meta.resolve(file));
for (const file of files) copyFileSync(installed(file), `${target}${basename(file)}`);

const packages = [...new Set(files.map((file) => file.slice(0, file.indexOf('/'))))];
const notices = packages.map((name) => {
  const folder = installed(files.find((file) => file.startsWith(`${name}/`))).slice(0, -1);
  const read = (file) =>
    readFileSync(`${folder.slice(0, folder.lastIndexOf('/'))}/${file}`, 'utf8');
  return `${name} ${JSON.parse(read('package.json')).version}\n\n${read('LICENSE').trim()}\n`;
});
writeFileSync(`${target}LICENSES.txt`, notices.join(`\n${'-'.repeat(80)}\n\n`));
