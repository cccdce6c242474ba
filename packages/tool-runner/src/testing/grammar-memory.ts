/** A thread that parses a source, and answers with the bytes of the memory that the grammars had then. */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

import type { LanguageId } from '../definitions/languages.ts';

/** Where this module is: a test starts the thread by it. */
export const GRAMMAR_MEMORY: string = import.meta.url;

export type GrammarMemory = { readonly failed: boolean; readonly bytes: readonly number[] };

type Memory = { readonly buffer: ArrayBufferLike };
type Memories = { Memory: new (pages: object) => Memory };

if (!isMainThread && parentPort !== null) {
  const made: Memory[] = [];
  const global = (globalThis as unknown as { WebAssembly: Memories }).WebAssembly;
  global.Memory = class extends global.Memory {
    constructor(pages: object) {
      super(pages);
      made.push(this);
    }
  };
  const { language, source } = workerData as { language: LanguageId; source: string };
  const { openGrammars } = await import('../definitions/grammars.ts');
  const grammars = await openGrammars();
  await grammars.load(language);
  let failed = false;
  try {
    grammars.parse(language, source);
  } catch {
    failed = true;
  }
  const bytes = made.map(({ buffer }) => buffer.byteLength);
  parentPort.postMessage({ failed, bytes } satisfies GrammarMemory);
}
