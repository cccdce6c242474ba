/** What a page is brought of the events of turns, as its own code reads it. */
import type { Page } from 'playwright-core';

import { framesOf } from '../../support/serve.ts';

type Recorded = { readonly seq: number; readonly type: string };

/** Runs on the page before its own code: whatever that reads of events is kept, in the order in which it reads it. */
export function recordStreams(): void {
  const connections: string[] = [];
  Object.assign(window, { connections });
  const ask = window.fetch.bind(window);
  window.fetch = async (...asked) => {
    const answer = await ask(...asked);
    if (answer.body === null || !new URL(answer.url).pathname.endsWith('/events')) return answer;
    const at = connections.push('') - 1;
    const reader = answer.body.getReader();
    const decoder = new TextDecoder();
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          connections[at] += decoder.decode(value, { stream: true });
          controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      // Nothing is read ahead of the page.
      { highWaterMark: 0 },
    );
    return new Response(body, { status: answer.status, headers: answer.headers });
  };
}

/** What each connection brought: the events that came whole. */
export async function readStreams(page: Page): Promise<readonly (readonly Recorded[])[]> {
  const texts = await page.evaluate(
    () => (window as unknown as { connections: string[] }).connections,
  );
  return texts.map((text) => (text.startsWith('{') ? polled(text) : streamed(text)));
}

function streamed(text: string): readonly Recorded[] {
  return framesOf(text.slice(0, text.lastIndexOf('\n\n') + 2))
    .filter(({ id }) => id !== null)
    .map(({ data }) => JSON.parse(data) as Recorded);
}

/** The answer to a poll comes whole, or nothing of it counts. */
function polled(text: string): readonly Recorded[] {
  if (!text.endsWith('}')) return [];
  return (JSON.parse(text) as { events: readonly Recorded[] }).events;
}
