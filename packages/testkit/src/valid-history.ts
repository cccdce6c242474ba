import type { Message } from '@orion/contracts';
import { expect } from 'vitest';

/** Throws unless every call id of an assistant message is answered exactly once before the next message. */
export function expectValidHistory(messages: readonly Message[]): void {
  let open: string[] = [];
  const seen = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      expect(open, `the answer to ${message.toolCallId} has an open call`).toContain(
        message.toolCallId,
      );
      open = open.filter((id) => id !== message.toolCallId);
      continue;
    }
    expect(open, 'calls without an answer').toEqual([]);
    if (message.role !== 'assistant') continue;
    const calls = message.toolCalls ?? [];
    open = calls.map((call) => call.id);
    expect(new Set(open).size, 'call ids are distinct').toBe(open.length);
    for (const call of calls) {
      expect(call.id).not.toBe('');
      expect(seen, 'a call id is used once').not.toContain(call.id);
      seen.add(call.id);
      expect(call.name).toMatch(/^[\w.-]+$/);
      expect(JSON.parse(call.arguments === '' ? '{}' : call.arguments)).toBeTypeOf('object');
    }
    expect(calls.length > 0 || message.content !== '').toBe(true);
  }
  expect(open, 'calls without an answer').toEqual([]);
}
