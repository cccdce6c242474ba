import { expect, it } from 'vitest';

import type { RunEvent, RunEventBody } from './run-event.ts';
import { TurnText } from './turn-text.ts';

/** Hazard: text that was taken back is shown as said, or text that still counts is dropped. */

function said(...bodies: readonly RunEventBody[]): string {
  const text = new TurnText();
  for (const [index, body] of bodies.entries()) text.add({ ...body, seq: index + 1 } as RunEvent);
  return text.toString();
}

const chunk = (content: string, source: 'model' | 'notice' = 'model'): RunEventBody => ({
  type: 'chunk',
  content,
  source,
});
const rewind = (toSeq: number): RunEventBody => ({ type: 'rewind', toSeq });
const calls: RunEventBody = { type: 'tool_calls', calls: [] };
const session = { type: 'write_session', sessionId: 's' } as unknown as RunEventBody;

it('is what the model said, in order, without notices', () => {
  expect(said(chunk('a'), chunk('!', 'notice'), chunk('b'))).toBe('ab');
});

it('drops what came after the event that a rewind names, and nothing else', () => {
  expect(said(chunk('a'), chunk('b'), rewind(1), chunk('c'))).toBe('ac');
  expect(said(chunk('a'), chunk('b'), rewind(2), chunk('c'))).toBe('abc');
  expect(said(chunk('a'), rewind(0), chunk('b'), rewind(0))).toBe('');
});

it('keeps text that a call or a write session followed', () => {
  expect(said(chunk('a'), calls, chunk('b'), rewind(0))).toBe('a');
  expect(said(chunk('a'), session, chunk('b'), rewind(0), chunk('c'))).toBe('ac');
});
