import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** The workspace's packages are run from their source, as everything in `tools` is. */
export const SOURCE_CONDITION = '--conditions=@orion/source';

export function forkModule(module: URL): ChildProcess {
  return fork(fileURLToPath(module), { execArgv: [SOURCE_CONDITION] });
}

/** @returns what the streams have said so far, in the order in which it came */
export function collect(...streams: readonly Readable[]): () => string {
  let text = '';
  for (const stream of streams) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
  }
  return () => text;
}
