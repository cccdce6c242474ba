/**
 * Where the grammars are: files of WebAssembly from packages that are needed for development only. The build copies
 * them beside this module, and the bundler beside its chunk; sources use them where they were installed.
 */
import { fileURLToPath } from 'node:url';

import type { LanguageId } from './languages.ts';

/** The program that runs the grammars. */
export const PARSER_FILE = 'web-tree-sitter/web-tree-sitter.wasm';

export const GRAMMAR_FILES: Readonly<Record<LanguageId, string>> = {
  go: 'tree-sitter-go/tree-sitter-go.wasm',
  java: 'tree-sitter-java/tree-sitter-java.wasm',
  javascript: 'tree-sitter-javascript/tree-sitter-javascript.wasm',
  python: 'tree-sitter-python/tree-sitter-python.wasm',
  rust: 'tree-sitter-rust/tree-sitter-rust.wasm',
  tsx: 'tree-sitter-typescript/tree-sitter-tsx.wasm',
  typescript: 'tree-sitter-typescript/tree-sitter-typescript.wasm',
};

/** The path of one of these files. */
export function installedFile(file: string): string {
  const isSource = import.meta.url.endsWith('.ts');
  const copied = `grammars/${file.slice(file.lastIndexOf('/') + 1)}`;
  return fileURLToPath(isSource ? import.meta.resolve(file) : new URL(copied, import.meta.url));
}
