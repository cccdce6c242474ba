import type { ProtocolEvent } from '@orion/contracts';

/** Text of the runtime for the person (R141); never part of what the model has said. */
export function notice(content: string): ProtocolEvent {
  return { type: 'chunk', content, source: 'notice' };
}

export const NO_ANSWER = 'No final answer was produced.';
