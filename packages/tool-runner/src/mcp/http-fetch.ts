import { countMessage, messageStream } from './message-stream.ts';
import type { HttpMeter } from './message-stream.ts';
import { ServerBroke } from './server.ts';
import type { McpLimits } from './server.ts';

const METHOD_NOT_ALLOWED = 405;

/**
 * `fetch` for one server: nothing goes to another address, no redirect is followed, and what comes back is bounded
 * after it is decompressed. Each answer counts as a message, too: a server may otherwise end one after the other and be
 * asked again without end.
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
    const { body, status, headers } = response;
    const isEvents = /^\s*text\/event-stream\s*(?:;|$)/iu.test(headers.get('content-type') ?? '');
    try {
      // A page for people, or the way to one, stands where no stream is offered.
      if (init?.method === 'GET' && status < 400 && !isEvents) {
        await body?.cancel();
        return new Response(null, { status: METHOD_NOT_ALLOWED });
      }
      if (status >= 300 && status < 400) {
        throw refuse('it answered with a redirect, which is not followed');
      }
      countMessage(meter, limits, refuse);
    } catch (error) {
      await body?.cancel();
      throw error;
    }
    if (body === null) return response;
    const messages = messageStream({ isEvents, limits, meter, refuse });
    return new Response(body.pipeThrough(messages), { status, headers });
  };
}
