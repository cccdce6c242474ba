/** The thread in which source files are parsed: grammars are other people's programs, and files are anybody's. */
import { isMainThread, parentPort } from 'node:worker_threads';

import type { LanguageId } from './languages.ts';
import type { FileDefinitions } from './list-definitions.ts';

/** Where this module is: whoever starts the thread names it by this. */
export const DEFINITIONS_WORKER: string = import.meta.url;

/** Without a source the grammar is loaded, which takes the time of our own files and not that of a hostile one. */
export type DefinitionsMessage = { readonly language: LanguageId; readonly source?: string };

export type DefinitionsReply =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'definitions'; readonly definitions: FileDefinitions }
  /** The grammar gave up, most likely for lack of memory: the thread may not be used any more. */
  | { readonly kind: 'failed' };

async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  const { openGrammars } = await import('./grammars.ts');
  const grammars = await openGrammars();
  const answer = async ({ language, source }: DefinitionsMessage): Promise<DefinitionsReply> => {
    if (source === undefined) {
      await grammars.load(language);
      return { kind: 'loaded' };
    }
    try {
      return { kind: 'definitions', definitions: grammars.parse(language, source) };
    } catch {
      return { kind: 'failed' };
    }
  };
  port.on('message', (message: DefinitionsMessage) => {
    void answer(message).then((reply) => port.postMessage(reply));
  });
}

if (!isMainThread && parentPort !== null) await serve(parentPort);
