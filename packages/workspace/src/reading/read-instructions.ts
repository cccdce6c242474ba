/** The instructions of a project for all agents. */
import { join } from 'node:path';
import type { ProjectInstructions, RefusedFile } from '@orion/contracts';
import { incompleteTail } from '../session-dir/wtf8.ts';
import { readBeginning } from './foreign-file.ts';

const NAMES: readonly string[] = ['AGENTS.md', 'ORION.md'];

/** Follows a link to a file in the workspace. An unusable file counts as missing. */
export async function readInstructions(
  root: string,
  maxBytes: number,
): Promise<{
  readonly instructions: ProjectInstructions | null;
  readonly refused: readonly RefusedFile[];
}> {
  const refused: RefusedFile[] = [];
  for (const name of NAMES) {
    const read = await readBeginning(join(root, name), maxBytes, root);
    if (read.kind === 'refused') refused.push({ path: name, reason: read.reason });
    if (read.kind === 'bytes') {
      return { instructions: { name, ...beginningOf(read.bytes, maxBytes) }, refused };
    }
  }
  return { instructions: null, refused };
}

function beginningOf(bytes: Buffer, maxBytes: number): Omit<ProjectInstructions, 'name'> {
  if (bytes.length <= maxBytes) return { content: bytes.toString('utf8'), truncated: false };
  const cut = bytes.subarray(0, maxBytes);
  const whole = cut.subarray(0, cut.length - incompleteTail(cut));
  return { content: whole.toString('utf8'), truncated: true };
}
