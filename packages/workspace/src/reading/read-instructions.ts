/** Instructions for all agents: those of a project, and those of its user. */
import { join, parse } from 'node:path';
import type { ProjectInstructions, RefusedFile } from '@orion/contracts';
import { incompleteTail } from '../session-dir/wtf8.ts';
import { readBeginning } from './foreign-file.ts';

const NAMES: readonly string[] = ['AGENTS.md', 'ORION.md'];

export type FoundInstructions = {
  readonly instructions: ProjectInstructions | null;
  readonly refused: readonly RefusedFile[];
};

/** Follows a link to a file in the workspace. An unusable file counts as missing. */
export function readInstructions(root: string, maxBytes: number): Promise<FoundInstructions> {
  return readFirst(NAMES, root, maxBytes, root);
}

/** `AGENTS.md` of the user's own folder. A link may lead anywhere: the user made it. */
export function readUserInstructions(folder: string, maxBytes: number): Promise<FoundInstructions> {
  return readFirst(['AGENTS.md'], folder, maxBytes, parse(folder).root);
}

async function readFirst(
  names: readonly string[],
  folder: string,
  maxBytes: number,
  within: string,
): Promise<FoundInstructions> {
  const refused: RefusedFile[] = [];
  for (const name of names) {
    const read = await readBeginning(join(folder, name), maxBytes, within);
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
