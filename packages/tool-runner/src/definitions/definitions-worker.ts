/** The thread in which source files are parsed: grammars are other people's programs, and files are anybody's. */
import { isMainThread, parentPort } from 'node:worker_threads';

import type { Parser } from 'web-tree-sitter';

import type { LanguageId } from './languages.ts';
import type { FileDefinitions } from './list-definitions.ts';

/** Where this module is: whoever starts the thread names it by this. */
export const DEFINITIONS_WORKER: string = import.meta.url;

/** Without a source the grammar is loaded, which takes the time of our own files and not that of a hostile one. */
export type DefinitionsMessage = { readonly language: LanguageId; readonly source?: string };

export type DefinitionsReply =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'definitions'; readonly definitions: FileDefinitions }
  /** The grammar gave up, most likely for lack of memory. The thread is not to be used any more. */
  | { readonly kind: 'failed' };

/** The types of Node leave it out. */
declare const WebAssembly: {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => object;
};

const PAGE_BYTES = 64 * 1024;
const INITIAL_PAGES = 512;
/** The limits of a thread do not count the memory of WebAssembly. */
const MAX_MEMORY_BYTES = 256 * 1024 * 1024;

async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  const { Language, Parser } = await import('web-tree-sitter');
  const { GRAMMAR_FILES, installedFile, PARSER_FILE } = await import('./grammar-files.ts');
  const { LANGUAGES } = await import('./languages.ts');
  const { listDefinitions } = await import('./list-definitions.ts');
  await Parser.init({
    locateFile: () => installedFile(PARSER_FILE),
    wasmMemory: new WebAssembly.Memory({
      initial: INITIAL_PAGES,
      maximum: MAX_MEMORY_BYTES / PAGE_BYTES,
    }),
    // It reports a lack of memory to the console of the process.
    printErr: () => undefined,
  });
  const parsers = new Map<LanguageId, Parser>();

  async function load(language: LanguageId): Promise<DefinitionsReply> {
    const parser = new Parser();
    parser.setLanguage(await Language.load(installedFile(GRAMMAR_FILES[language])));
    parsers.set(language, parser);
    return { kind: 'loaded' };
  }

  function parse(language: LanguageId, source: string): DefinitionsReply {
    const rules = LANGUAGES.find(({ id }) => id === language)?.rules ?? {};
    const tree = parsers.get(language)?.parse(source) ?? null;
    if (tree === null) throw new Error(`the grammar of ${language} is not loaded`);
    try {
      return { kind: 'definitions', definitions: listDefinitions(tree, source, rules) };
    } finally {
      tree.delete();
    }
  }

  async function answer({ language, source }: DefinitionsMessage): Promise<DefinitionsReply> {
    if (source === undefined) return load(language);
    try {
      return parse(language, source);
    } catch (error) {
      const isTrap = error instanceof Error && error.name === 'RuntimeError';
      if (isTrap || error instanceof RangeError) return { kind: 'failed' };
      throw error;
    }
  }
  port.on('message', (message: DefinitionsMessage) => {
    void answer(message).then((reply) => port.postMessage(reply));
  });
}

if (!isMainThread && parentPort !== null) await serve(parentPort);
