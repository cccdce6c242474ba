/** The thread in which stored outputs are parsed and asked. Answers leave it as texts, so that no other thread parses them. */
import { isMainThread, parentPort } from 'node:worker_threads';

import type { TraversalMessage } from './traversal-replies.ts';

/** Where this module is: whoever starts the thread names it by this. */
export const TRAVERSAL_WORKER: string = import.meta.url;

async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  const { createReplies } = await import('./traversal-replies.ts');
  const reply = createReplies();
  port.on('message', (message: TraversalMessage) => port.postMessage(reply(message)));
}

if (!isMainThread && parentPort !== null) await serve(parentPort);
