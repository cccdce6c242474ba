import { Language, Parser } from 'web-tree-sitter';

import { GRAMMAR_FILES, installedFile, PARSER_FILE } from './grammar-files.ts';
import { LANGUAGES } from './languages.ts';
import type { LanguageId } from './languages.ts';
import { listDefinitions } from './list-definitions.ts';
import type { FileDefinitions } from './list-definitions.ts';

/** The types of Node leave it out. */
declare const WebAssembly: {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => object;
};

const PAGE_BYTES = 64 * 1024;
/** What the parser asks for when it starts. */
const INITIAL_BYTES = 32 * 1024 * 1024;
/** The limits of a thread do not count the memory of WebAssembly. */
const MAX_MEMORY_BYTES = 256 * 1024 * 1024;

/** The grammars of a thread, which share one memory. */
export type Grammars = {
  load(language: LanguageId): Promise<void>;
  /**
   * The definitions of a source whose grammar is loaded. Throws where the grammar gives up, most likely for lack of memory:
   * then nothing here may be used any more.
   */
  parse(language: LanguageId, source: string): FileDefinitions;
};

export async function openGrammars(): Promise<Grammars> {
  await Parser.init({
    locateFile: () => installedFile(PARSER_FILE),
    wasmMemory: new WebAssembly.Memory({
      initial: INITIAL_BYTES / PAGE_BYTES,
      maximum: MAX_MEMORY_BYTES / PAGE_BYTES,
    }),
    // It reports a lack of memory to the console of the process.
    printErr: () => undefined,
  });
  const parsers = new Map<LanguageId, Parser>();
  return {
    async load(language) {
      const parser = new Parser();
      parser.setLanguage(await Language.load(installedFile(GRAMMAR_FILES[language])));
      parsers.set(language, parser);
    },
    parse(language, source) {
      const rules = LANGUAGES.find(({ id }) => id === language)?.rules ?? {};
      const tree = parsers.get(language)?.parse(source) ?? null;
      if (tree === null) throw new Error(`the grammar of ${language} is not loaded`);
      const definitions = listDefinitions(tree, source, rules);
      tree.delete();
      return definitions;
    },
  };
}
