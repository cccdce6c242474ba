/** Writes the new bytes of a target, complete and durable, to a temporary file. */
import { CrlfConverter, TextTally } from '@orion/contracts';
import { createHash } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { CommitPart } from '@orion/contracts';
import { onDisk, systemError, toDiskError } from '../disk/disk-error.ts';
import { scanRange } from '../disk/files.ts';
import { setMode } from '../disk/set-mode.ts';
import { writeAll } from '../disk/write-all.ts';
import { shown } from '../path-policy/parse-target.ts';
import { textRule, withByteOrderMark } from './adapt-text.ts';
import type { TextRule } from './adapt-text.ts';
import { targetChanged } from './commit-errors.ts';
import type { Site } from './commit-site.ts';
import { keepProperties } from './keep-properties.ts';

export type WrittenTemporary = {
  readonly sha256: string;
  /** The new bytes only, as written. */
  readonly added: TextTally;
  readonly whole: TextTally;
  readonly mode: number;
  readonly notKept: readonly string[];
  /** Open if the file is read again before the change; the receiver closes it then. */
  readonly handle: FileHandle | null;
};

/**
 * Writes the parts of the request to a new file. `previous` contains the verified bytes of the target, from which kept
 * parts are copied.
 */
export async function writeTemporary(
  site: Site,
  path: string,
  previous: FileHandle | null,
): Promise<WrittenTemporary> {
  const { request, target } = site;
  const action = `write ${shown(target.path)}`;
  const keepsBytes = request.parts.some((part) => part.kind === 'kept');
  const rule = textRule(request.eol, request.expected, keepsBytes);
  const isPlain = site.old === null && request.mode === undefined;
  const { handle, mode } = await onDisk(action, () =>
    isPlain ? openNew(path) : openPrivate(path, request.mode ?? PRIVATE),
  );
  let isOpen = true;
  try {
    const written = await writeParts({ site, handle, previous, rule });
    const kept = await onDisk(action, async () => {
      await requireSize(handle, written.whole.bytes);
      const properties = await keepProperties(site, handle, mode);
      await handle.sync();
      return properties;
    });
    if (request.reviewed === true) return { ...written, ...kept, handle };
    isOpen = false;
    await onDisk(action, () => handle.close());
    return { ...written, ...kept, handle: null };
  } catch (error) {
    if (isOpen) await handle.close().catch(() => undefined);
    throw error;
  }
}

type OpenTemporary = {
  readonly handle: FileHandle;
  /** The mode that it is to have if there is no old file. */
  readonly mode: number;
};

const PRIVATE = 0o600;

async function openPrivate(path: string, mode: number): Promise<OpenTemporary> {
  return { handle: await open(path, 'wx+', PRIVATE), mode };
}

/**
 * Also finds out the mode that every program's new files get here, which the umask or an access list of the folder
 * decides: an empty file shows it. It is not the one that is written, unless its name cannot be removed: another process
 * may have it open.
 */
async function openNew(path: string): Promise<OpenTemporary> {
  const sample = await open(path, 'wx+', 0o666);
  try {
    const mode = (await sample.stat()).mode & 0o7777;
    if (!(await isRemoved(path))) {
      await setMode(sample, PRIVATE);
      return { handle: sample, mode };
    }
    await sample.close();
    return await openPrivate(path, mode);
  } catch (error) {
    await sample.close().catch(() => undefined);
    throw error;
  }
}

function isRemoved(path: string): Promise<boolean> {
  return unlink(path).then(
    () => true,
    () => false,
  );
}

/** A write can be lost without an error. The size shows it. */
async function requireSize(handle: FileHandle, bytes: number): Promise<void> {
  const { size } = await handle.stat();
  if (size === bytes) return;
  throw systemError('EIO', `${size} of ${bytes} bytes were written`);
}

type Job = {
  readonly site: Site;
  readonly handle: FileHandle;
  readonly previous: FileHandle | null;
  readonly rule: TextRule;
};

async function writeParts(job: Job): Promise<Pick<WrittenTemporary, 'sha256' | 'added' | 'whole'>> {
  const { site, handle, rule } = job;
  const action = `write ${shown(site.target.path)}`;
  const hash = createHash('sha256');
  const added = new TextTally();
  const whole = new TextTally();
  const write = async (chunk: Uint8Array): Promise<void> => {
    await onDisk(action, () => writeAll(handle, chunk, whole.bytes));
    hash.update(chunk);
    whole.add(chunk);
  };
  for (const part of site.request.parts) {
    if (part.kind === 'kept') {
      for await (const chunk of keptBytes(job, part)) await write(chunk);
      continue;
    }
    const source = rule.keepMark ? withByteOrderMark(part.source()) : part.source();
    const converter = rule.toCrlf ? new CrlfConverter(whole.lastByte()) : null;
    for await (const chunk of source) {
      const bytes = converter === null ? chunk : converter.push(chunk);
      if (converter !== null && rule.onlyPure && converter.found > 0) {
        // The new bytes replace the whole file and have their own line endings: start again without conversion.
        await onDisk(action, () => handle.truncate(0));
        return writeParts({ ...job, rule: { ...rule, toCrlf: false } });
      }
      await write(bytes);
      added.add(bytes);
    }
  }
  return { sha256: hash.digest('hex'), added, whole };
}

async function* keptBytes(
  { site, previous }: Job,
  part: Extract<CommitPart, { readonly kind: 'kept' }>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { path } = site.target;
  const { start, end } = part;
  if (start < 0 || end < start || end > site.request.expected.bytes) {
    throw new RangeError(`the bytes ${start} to ${end} are not all in ${path}`);
  }
  if (previous === null) throw new RangeError(`there are no bytes of ${path} to keep`);
  let bytes = 0;
  try {
    for await (const chunk of scanRange(previous, start, end)) {
      bytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw toDiskError(error, `read the previous bytes of ${shown(path)}`);
  }
  if (bytes !== end - start) throw targetChanged(path);
}
