import { readFile } from 'node:fs/promises';

import { runScriptedProvider } from '@orion/llm-adapters/scripted';

// A process of its own, so that its work is on neither side of the comparison.
await runScriptedProvider({
  argv: process.argv.slice(2),
  readText: (path) => readFile(path, 'utf8'),
  print: (line) => process.stdout.write(`${line}\n`),
});
