import { readFile } from 'node:fs/promises';

import { runScriptedProvider } from '../run.ts';

// The provider as a process of its own, run from source by tests that kill it.
await runScriptedProvider({
  argv: process.argv.slice(2),
  readText: (path) => readFile(path, 'utf8'),
  print: (line) => process.stdout.write(`${line}\n`),
});
