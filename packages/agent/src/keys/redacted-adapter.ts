import type { KeysInUse, LlmAdapter, LlmEvent } from '@orion/contracts';

import type { TokenMeter } from '../context/token-meter.ts';
import { wrapAdapter } from './wrapped-adapter.ts';

/**
 * The adapter, without the keys in use in what is never a part of a file: names and ids of calls, and errors. Text and
 * arguments are passed on as they come, since a file that holds a key is written as it came; what else becomes of them
 * is redacted where it is shown or stored. What the provider counts is passed on to the meter.
 */
export function redactAdapter(
  adapter: LlmAdapter,
  keys: KeysInUse,
  meter: Pick<TokenMeter, 'learn'>,
): LlmAdapter {
  return wrapAdapter(adapter, async function* redactedEvents(send, messages, options) {
    for await (const event of send()) {
      if (event.type === 'usage') meter.learn(adapter.model, event.usage, messages, options);
      yield redacted(event, keys);
    }
  });
}

function redacted(event: LlmEvent, { redact }: KeysInUse): LlmEvent {
  switch (event.type) {
    case 'tool-call-start':
      return { ...event, id: redact(event.id), name: redact(event.name) };
    case 'tool-call-end': {
      const { call } = event;
      return { ...event, call: { ...call, id: redact(call.id), name: redact(call.name) } };
    }
    case 'error':
      return { ...event, error: { ...event.error, message: redact(event.error.message) } };
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-call-delta':
    case 'usage':
    case 'finish':
      return event;
    default:
      return event satisfies never;
  }
}
