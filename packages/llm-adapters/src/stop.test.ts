import { expect, test } from 'vitest';

import { MESSAGE_START, MESSAGE_STOP, messageEnd, namedEvents } from './testing/named-events.ts';
import { createAdapterOf } from './testing/providers.ts';
import { DONE, ONCE, QUESTION, STOP, collect, serve, sse } from './testing/streams.ts';

const WHOLE = {
  'openai-chat': sse(STOP, DONE),
  'anthropic-messages': namedEvents(MESSAGE_START, messageEnd('stop_sequence'), MESSAGE_STOP),
  'openai-responses': namedEvents({ type: 'response.completed', response: {} }),
} as const;

test.for([
  ['openai-chat', 'stop'],
  ['anthropic-messages', 'stop_sequences'],
  ['openai-responses', null],
] as const)(
  'texts to stop at are sent where the provider knows them: %s',
  async ([format, name]) => {
    const server = await serve({ pieces: [WHOLE[format]] });
    const adapter = createAdapterOf(format, { baseUrl: server.url, retry: ONCE });
    const stop = ['END', 'b', 'c', 'd', 'e'];
    for (const send of [{ stop }, { stop: [] }, {}]) {
      const events = await collect(adapter.sendMessagesStreaming(QUESTION, send));
      expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop' });
    }
    const bodies = server.requests.map(({ body }) => body as Readonly<Record<string, unknown>>);
    expect(bodies.map((body) => (name === null ? undefined : body[name]))).toEqual([
      name === null ? undefined : stop.slice(0, 4),
      undefined,
      undefined,
    ]);
    expect(JSON.stringify(bodies.slice(1))).not.toContain('stop');
    if (name === null) expect(JSON.stringify(bodies)).not.toContain('END');
  },
);
