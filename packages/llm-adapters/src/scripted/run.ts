import { parseArgs } from 'node:util';

import { OrionError } from '@orion/contracts';

import { startScriptedProvider } from './server.ts';
import type { ScriptedProvider } from './server.ts';

export type RunScriptedProviderOptions = {
  /** `<script> [--port <n>]` */
  readonly argv: readonly string[];
  /** Reads the script, and the documents that it names. */
  readonly readText: (path: string) => Promise<string>;
  /** Gets the URL as its first line. */
  readonly print: (line: string) => void;
};

/**
 * Runs the provider as a process of its own. The caller passes a function that reads files, because this package reads
 * none.
 */
export async function runScriptedProvider(
  options: RunScriptedProviderOptions,
): Promise<ScriptedProvider> {
  const { argv, readText, print } = options;
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { port: { type: 'string', default: '0' } },
  });
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) {
    const message = 'Usage: <script.json> [--port <number>]';
    throw new OrionError({ code: 'USAGE', message });
  }
  const port = Number(values.port);
  const script = await readText(path);
  const provider = await startScriptedProvider(script, { port, readDocument: readText });
  print(provider.url);
  return provider;
}
