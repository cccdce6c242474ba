/** Uploads of the tests. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { WriteSessions } from '../write-sessions/write-sessions.ts';
import type { Orion } from '../orion.ts';
import { openOrion, temporaryDirectory } from './set-up.ts';

export async function openUploads(options: Partial<Parameters<typeof openOrion>[0]> = {}): Promise<{
  readonly orion: Orion;
  readonly sessions: WriteSessions;
  readonly root: string;
  readonly read: (path: string) => Promise<Buffer>;
}> {
  const root = options.workspace ?? (await temporaryDirectory());
  const orion = await openOrion({ ...options, workspace: root });
  return {
    orion,
    sessions: orion.writeSessions,
    root,
    read: (path) => readFile(join(root, path)),
  };
}

export async function* bytes(
  ...parts: readonly (string | Uint8Array)[]
): AsyncGenerator<Uint8Array, void> {
  for (const part of parts) yield await Promise.resolve(Buffer.from(part));
}

/** Gives these, then breaks. */
export async function* breaking(part: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield part;
  throw await Promise.resolve(new Error('the connection broke'));
}

export async function begin(
  sessions: WriteSessions,
  target: string = 'a.txt',
  more: Partial<Parameters<WriteSessions['begin']>[0]> = {},
): Promise<string> {
  const request = { intent: 'a test', target_file: target, operation: 'create', ...more } as const;
  return (await sessions.begin(request)).session_id;
}
