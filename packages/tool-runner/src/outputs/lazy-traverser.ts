import type { Clock } from '@orion/contracts';

import type { Traverser } from './traverser.ts';

/** A traverser that is loaded at the first question: most processes have none. */
export function createLazyTraverser(clock: Clock): Traverser {
  let loaded: Promise<Traverser> | null = null;
  return {
    async ask(document, question, signal) {
      loaded ??= import('./traverser.ts').then(({ createTraverser }) => createTraverser({ clock }));
      return (await loaded).ask(document, question, signal);
    },
    async close() {
      await (await loaded)?.close();
    },
  };
}
