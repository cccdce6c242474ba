// A step of the build: the manual pages, from the same declarations as the help.
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { createProgram } from '../src/command-line/program.ts';
import { manPages } from '../src/man/man-pages.ts';
import { createContext } from '../src/process/context.ts';
import { VERSION } from '../src/version.ts';

const context = createContext({
  argv: [],
  environment: {},
  homeDirectory: null,
  currentDirectory: '/',
  entry: '',
});
const program = createProgram(context, () => undefined);
const folder = fileURLToPath(new URL('../dist/man/', import.meta.url));
await mkdir(folder, { recursive: true });
for (const { name, text } of manPages(program, VERSION)) await writeFile(`${folder}${name}`, text);
