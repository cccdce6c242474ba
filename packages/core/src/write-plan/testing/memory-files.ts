import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { PatternMatcher, TargetSnapshot } from '@orion/contracts';

import { planChanges } from '../plan-changes.ts';
import type { PlannedChanges } from '../plan-changes.ts';
import { readImage } from '../file-image.ts';
import { Pace } from '../pace.ts';
import { parsePlan } from '../parse-plan.ts';

/** Files that only planning looks at, read in chunks of any size. */
export function planOn(
  files: Readonly<Record<string, string | Uint8Array>>,
  plan: unknown,
  chunkBytes = 7,
  maxBytes: number = 1024 * 1024 * 1024,
): Promise<PlannedChanges> {
  const bytesOf = (path: string): Buffer | null => {
    const content = files[path];
    return content === undefined ? null : Buffer.from(content as string);
  };
  const parsed = parsePlan(plan);
  for (const each of parsed.operations) if (each.kind === 'invalid') throw each.error;
  return planChanges(parsed.plan, parsed.operations, {
    workspace: {
      maxTargetBytes: maxBytes,
      checkTarget: async (target) => snapshotOf(target, bytesOf(target)),
      readTarget: (snapshot) => inChunks(bytesOf(snapshot.path) ?? Buffer.alloc(0), chunkBytes),
    },
    patterns: inProcess,
    pace: new Pace(null, () => Promise.resolve()),
  });
}

export function isRefused({ verdicts }: PlannedChanges): boolean {
  return verdicts.some(({ kind }) => kind !== 'planned');
}

/** For tests, whose expressions are known to end. */
export const inProcess: PatternMatcher = {
  open: async (pattern) => ({
    match: async (lines) => {
      const matches = lines.flatMap((line, index) =>
        [...line.matchAll(new RegExp(pattern, 'gu'))].map((match) => ({
          line: index,
          start: match.index,
          end: match.index + match[0].length,
        })),
      );
      return { count: matches.length, matches };
    },
    close: async () => undefined,
  }),
};

/** What the file of a change would be. */
export async function resultOf(planned: PlannedChanges, index = 0): Promise<string> {
  const change = planned.changes[index];
  if (change === undefined) throw new Error('the plan changes no such file');
  const chunks: Uint8Array[] = [];
  for await (const chunk of readImage(change.state.image, change.state.readBase)) {
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.length !== change.state.image.bytes) throw new Error('the image has another size');
  return bytes.toString('utf8');
}

export async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export function snapshotOf(path: string, bytes: Buffer | null): TargetSnapshot {
  const text = bytes?.toString('latin1') ?? '';
  const feeds = text.split('\n').length - 1;
  const crlf = text.split('\r\n').length - 1;
  return {
    path,
    realPath: `/${path}`,
    exists: bytes !== null,
    sha256: bytes === null ? null : createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes?.length ?? 0,
    mode: 0o644,
    eol: feeds === 0 ? 'none' : crlf === 0 ? 'lf' : crlf === feeds ? 'crlf' : 'mixed',
    bom: text.startsWith('\u00ef\u00bb\u00bf'),
    ...(bytes === null || isUtf8(bytes)
      ? {}
      : { encoding: text.includes('\0') ? 'utf-16le' : '8-bit' }),
    ...(text === '' || text.endsWith('\n') ? {} : { unterminated: true }),
  };
}
