import { defined } from '@orion/contracts';
import type { KeysInUse, RunEventBody } from '@orion/contracts';

import type { TurnStep } from '../turn/turn-step.ts';

/**
 * The events of a turn without the keys in use, before anybody sees or stores them. Content of files stays as it is,
 * and so do the paths and commands of write sessions, which have to work.
 */
export async function* redactEvents<End>(
  events: AsyncGenerator<TurnStep, End>,
  keys: KeysInUse,
): AsyncGenerator<TurnStep, End> {
  const text = keys.stream();
  const rest = (): readonly RunEventBody[] => {
    const content = text.end();
    return content === '' ? [] : [{ type: 'chunk', content, source: 'model' }];
  };
  try {
    for (;;) {
      const next = await events.next();
      if (next.done === true) {
        yield* rest();
        return next.value;
      }
      const event = next.value;
      if (event.type === 'chunk' && event.source === 'model') {
        const content = text.push(event.content);
        if (content !== '') yield { ...event, content };
        continue;
      }
      yield* rest();
      yield redacted(event, keys);
    }
  } finally {
    await events.return(undefined as never);
  }
}

function redacted(event: TurnStep, { redact }: KeysInUse): TurnStep {
  switch (event.type) {
    case 'chunk':
      return { ...event, content: redact(event.content) };
    case 'tool_calls': {
      const calls = event.calls.map((call) => ({ ...call, arguments: redact(call.arguments) }));
      return { ...event, calls };
    }
    case 'tool_progress':
      return { ...event, message: redact(event.message) };
    case 'tool_result': {
      const error = event.error && { ...event.error, message: redact(event.error.message) };
      return { ...event, summary: redact(event.summary), ...defined({ error }) };
    }
    case 'error':
      return { ...event, error: { ...event.error, message: redact(event.error.message) } };
    default:
      return event;
  }
}
