import { createFakeAdapter, createProtocolContext, textOf, textReply } from '@orion/testkit';
import type { ProtocolEvent } from '@orion/contracts';
import { expect, test } from 'vitest';

import { callModel } from './model-call.ts';
import { createProtocolTrace } from './protocol-trace.ts';

test.for([
  [undefined, 'quiet:loud', 'quiet:loud'],
  [() => '', '', 'quiet:loud'],
  [(piece: string) => piece.replace(/^.*:/u, ''), 'loud', 'quiet:loud'],
] as const)(
  'a protocol says what of its text is shown while it comes: %o',
  async ([show, shown, text]) => {
    const context = createProtocolContext({
      adapter: createFakeAdapter([textReply('quiet:', 'loud')]),
    });
    const call = callModel(context, context.signal, createProtocolTrace(context, 'own'), {
      messages: context.messages,
      tools: [],
      purpose: 'answer',
      ...(show === undefined ? {} : { show }),
    });
    const events: ProtocolEvent[] = [];
    let step = await call.next();
    for (; step.done !== true; step = await call.next()) events.push(step.value);
    expect(textOf(events)).toBe(shown);
    expect(
      events
        .filter(({ type }) => type === 'chunk')
        .every((event) => event.type === 'chunk' && event.content !== ''),
    ).toBe(true);
    expect(step.value.text).toBe(text);
  },
);
