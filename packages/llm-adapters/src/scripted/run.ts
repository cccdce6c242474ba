import { parseArgs } from 'node:util';

import { OrionError } from '@orion/contracts';

import { startScriptedProvider } from './server.ts';
import type { ScriptedProvider } from './server.ts';

export type RunScriptedProviderOptions = {
  /** `<script> [--port <n>] [--host <address>]` */
  readonly argv: readonly string[];
  /** Reads the script, and the documents that it names. */
  readonly readText: (path: string) => Promise<string>;
  /** Gets the URL as its first line. */
  readonly print: (line: string) => void;
};

/**
 * The provider as a process of its own: a caller that may read files passes its own reader, so that this package
 * reads none.
 */
export async function runScriptedProvider(
  options: RunScriptedProviderOptions,
): Promise<ScriptedProvider> {
  const { values, positionals } = parseArgs({
    args: [...options.argv],
    allowPositionals: true,
    options: { port: { type: 'string' }, host: { type: 'string' } },
  });
  const [path] = positionals;
  const port = Number(values.port ?? 0);
  if (
    path === undefined ||
    positionals.length > 1 ||
    !Number.isInteger(port) ||
    port < 0 ||
    port > 65_535
  ) {
    throw new OrionError({
      code: 'USAGE',
      message: 'Usage: <script.json> [--port <number>] [--host <address>]',
    });
  }
  const provider = await startScriptedProvider(await options.readText(path), {
    port,
    readDocument: options.readText,
    ...(values.host === undefined ? {} : { host: values.host }),
  });
  options.print(provider.url);
  return provider;
}
