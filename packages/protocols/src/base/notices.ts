import type { ProtocolEvent } from '@orion/contracts';

/** Text from the runtime for the user (R141), never part of the model's answer. */
export function notice(content: string): ProtocolEvent {
  return { type: 'chunk', content, source: 'notice' };
}

export const NO_ANSWER = 'No final answer was produced.';
