/** What a project tells every agent that works in it. */
import { OrionError } from '@orion/contracts';
import { openRegularFile, readRange } from '../disk/files.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';
import { incompleteTail } from '../session-dir/wtf8.ts';

const NAMES: readonly string[] = ['AGENTS.md', 'ORION.md'];

export type Instructions = {
  readonly name: string;
  readonly content: string;
  readonly truncated: boolean;
};

/** A link to a file of the workspace counts; anything unreadable counts as not there. */
export async function readInstructions(
  policy: PathPolicy,
  maxBytes: number,
): Promise<Instructions | null> {
  for (const name of NAMES) {
    let realPath: string;
    try {
      const found = await policy.contain(name);
      if (found.stat === null) continue;
      realPath = found.realPath;
    } catch (error) {
      if (OrionError.isInstance(error)) continue;
      throw error;
    }
    const handle = await openRegularFile(realPath).catch(() => null);
    if (handle === null) continue;
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of readRange(handle, 0, maxBytes + 1)) chunks.push(chunk);
      const bytes = Buffer.concat(chunks);
      if (bytes.length <= maxBytes) {
        return { name, content: bytes.toString('utf8'), truncated: false };
      }
      const cut = bytes.subarray(0, maxBytes);
      const whole = cut.subarray(0, cut.length - incompleteTail(cut));
      return { name, content: whole.toString('utf8'), truncated: true };
    } finally {
      await handle.close();
    }
  }
  return null;
}
