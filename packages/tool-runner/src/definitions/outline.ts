/**
 * The definitions of source files, parsed in a thread that can be ended.
 *
 * 1. A file is opened by the workspace, which decides what may be read. One that cannot be read or parsed has an error
 *    in place of its definitions, and the next one is looked at.
 * 2. A file that takes too long ends the thread, and so does one that takes too much memory.
 * 3. What was not looked at for lack of time or room is counted by the caller: those behind the last file.
 */
import { OrionError, visibleName } from '@orion/contracts';
import type { Clock, TextEncodingName, TextExcerpt, Workspace } from '@orion/contracts';

import { languageOf } from './languages.ts';
import type { Language } from './languages.ts';
import { SourceParser } from './source-parser.ts';

/** Larger files are not parsed. */
export const MAX_SOURCE_BYTES: number = 1024 * 1024;

export type OutlineLimits = {
  /** For each file, once its grammar is loaded. */
  readonly fileMs: number;
  readonly totalMs: number;
  /** Of all definitions. */
  readonly characters: number;
};

export const OUTLINE_LIMITS: OutlineLimits = {
  fileMs: 2_000,
  totalMs: 20_000,
  characters: 256 * 1024,
};

export type SourceFile = { readonly path: string; readonly language: Language };

export type FileOutline = {
  readonly path: string;
  readonly encoding: TextEncodingName;
  readonly definitions: readonly string[];
  /** Definitions that are not listed. */
  readonly more: number;
  /** Whether the grammar did not understand all of it. */
  readonly hasErrors: boolean;
};

/** `error`: a sentence. */
export type FailedOutline = { readonly path: string; readonly error: string };

export type Outline = {
  readonly files: readonly (FileOutline | FailedOutline)[];
  /** Why it ended before the last file. */
  readonly stopped: 'time' | 'size' | null;
};

/** Those of the files whose language is known. */
export function sourcesAmong(paths: readonly string[]): readonly SourceFile[] {
  return paths.flatMap((path) => {
    const language = languageOf(path);
    return language === undefined ? [] : [{ path, language }];
  });
}

type Parts = {
  readonly workspace: Pick<Workspace, 'readText'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly limits: OutlineLimits;
};

/** Rejects with ABORTED, and for a defect. */
export async function outline(sources: readonly SourceFile[], parts: Parts): Promise<Outline> {
  const { workspace, clock, limits } = parts;
  const endsAt = clock.monotonic() + limits.totalMs;
  const { DEFINITIONS_WORKER } = await import('./definitions-worker.ts');
  const parser = new SourceParser(DEFINITIONS_WORKER, parts);
  const files: (FileOutline | FailedOutline)[] = [];
  let room = limits.characters;
  try {
    for (const { path, language } of sources) {
      if (room <= 0) return { files, stopped: 'size' };
      const text = await readSource(workspace, path);
      if ('error' in text) {
        files.push(text);
        continue;
      }
      const { fileMs } = limits;
      const parsed = await parser.parse(language.id, text.content, { fileMs, endsAt });
      if (parsed.kind === 'late') return { files, stopped: 'time' };
      if (parsed.kind === 'stopped') {
        files.push({ path, error: stoppedError(parsed.because, fileMs) });
        continue;
      }
      const { lines, more, hasErrors } = parsed.definitions;
      const definitions = lines.map((line) => visibleName(line));
      for (const line of definitions) room -= line.length;
      files.push({ path, encoding: text.encoding, definitions, more, hasErrors });
    }
    return { files, stopped: null };
  } finally {
    await parser.close();
  }
}

async function readSource(
  workspace: Pick<Workspace, 'readText'>,
  path: string,
): Promise<TextExcerpt | FailedOutline> {
  try {
    return await workspace.readText(path, {
      maxLines: Number.MAX_SAFE_INTEGER,
      // UTF-16 may take half as much again in UTF-8.
      maxBytes: 2 * MAX_SOURCE_BYTES,
      maxFileBytes: MAX_SOURCE_BYTES,
    });
  } catch (error) {
    if (!OrionError.isInstance(error)) throw error;
    return { path, error: error.message };
  }
}

function stoppedError(because: 'time' | 'memory', fileMs: number): string {
  return because === 'time'
    ? `Parsing it took longer than ${fileMs / 1000} s and was stopped.`
    : 'Parsing it failed, most likely for lack of memory.';
}
