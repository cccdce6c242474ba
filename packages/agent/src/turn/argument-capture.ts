import type { LlmAdapter, LlmEvent, SendOptions } from '@orion/contracts';

import { wrapAdapter } from '../keys/wrapped-adapter.ts';
import type { CallText, KeptTexts } from './kept-texts.ts';

/**
 * Keeps the text that a model sends as an argument although it should stream it (R258): the call may be cut off,
 * refused or unknown, and its text would be gone. Where a model answers in JSON, that is a call, too.
 *
 * 1. The events do not change, except that calls, and the end of a message that is an action, name the place of their
 *    text. Texts whose call never ended are with the untold ones of `texts`.
 * 2. Text is handed to the disk as it comes; nothing waits for it before the call is whole.
 * 3. Nothing that goes wrong with it reaches the turn.
 */
export function captureArguments(adapter: LlmAdapter, texts: KeptTexts): LlmAdapter {
  async function* capturing(
    send: () => AsyncIterable<LlmEvent>,
    { responseFormat }: SendOptions,
  ): AsyncGenerator<LlmEvent, void, undefined> {
    const action = responseFormat?.type === 'json_schema' ? texts.open(null) : null;
    const open = new Map<number, CallText>();
    try {
      for await (const event of send()) {
        switch (event.type) {
          case 'text-delta':
            action?.push(event.text);
            break;
          case 'tool-call-start':
            open.set(event.index, texts.open(event.name));
            break;
          case 'tool-call-delta':
            open.get(event.index)?.push(event.argumentsDelta);
            break;
          case 'tool-call-end': {
            const kept = (await open.get(event.index)?.finish()) ?? [];
            open.delete(event.index);
            yield kept.length === 0 ? event : { ...event, call: { ...event.call, kept } };
            continue;
          }
          case 'finish': {
            const kept = (await action?.finish()) ?? [];
            yield kept.length === 0 ? event : { ...event, kept };
            continue;
          }
          default:
        }
        yield event;
      }
    } finally {
      for (const text of open.values()) await text.finish();
      await action?.finish();
    }
  }

  return wrapAdapter(adapter, (send, _messages, options) => capturing(send, options));
}
