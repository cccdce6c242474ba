import { ServerBroke } from './server.ts';
import type { McpLimits } from './server.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** What one connection over HTTP has received since its latest call began. */
export type HttpMeter = { messages: number };

/**
 * `fetch` for one server: nothing goes to another address, no redirect is followed, and what comes back is bounded
 * after it is decompressed.
 */
export function boundedFetch(
  server: URL,
  limits: McpLimits,
  meter: HttpMeter,
  broken: (error: ServerBroke) => void,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  const refuse = (why: string): ServerBroke => {
    const error = new ServerBroke(why);
    broken(error);
    return error;
  };
  return async (url, init) => {
    if (new URL(url).origin !== server.origin) throw refuse('it leads to another address');
    const response = await fetch(url, { ...init, redirect: 'manual' });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw refuse('it answered with a redirect, which is not followed');
    }
    if (response.body === null) return response;
    let held = 0;
    let isLineEmpty = true;
    const bounded = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        // The size of an event, in a stream of them; elsewhere blank lines are rare, and JSON has its own bound.
        for (let start = 0, end = 0; ; start = end + 1) {
          end = chunk.indexOf(LINE_FEED, start);
          const line = chunk.subarray(start, end === -1 ? undefined : end);
          held += line.length + 1;
          if (line.some((byte) => byte !== CARRIAGE_RETURN)) isLineEmpty = false;
          if (held > limits.messageBytes) {
            controller.error(refuse(`it sent a message of more than ${limits.messageBytes} bytes`));
            return;
          }
          if (end === -1) break;
          if (isLineEmpty) {
            held = 0;
            meter.messages += 1;
          }
          isLineEmpty = true;
        }
        if (meter.messages > limits.messages) {
          controller.error(refuse(`it sent more than ${limits.messages} messages in one call`));
          return;
        }
        controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(bounded), { status, statusText, headers });
  };
}
