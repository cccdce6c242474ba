import type { Message } from '@orion/contracts';
import { expect, it } from 'vitest';

import { lastTurns } from './last-turns.ts';

const user = (content: string): Message => ({ role: 'user', content });
const answer = (content: string): Message => ({ role: 'assistant', content });
const history = [user('one'), answer('é'), user('two'), answer('2'), answer('b')];
const bytes = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)), 0);

it('the end of a history that a model has room for begins with what a person said', () => {
  const last = history.slice(2);
  expect(lastTurns(history, bytes(history))).toBe(history);
  expect(lastTurns(history, bytes(history) - 1)).toEqual(last);
  expect(lastTurns(history, bytes(last))).toEqual(last);
  expect(lastTurns(history, bytes(last) - 1)).toEqual([]);
  expect(lastTurns(history, Infinity)).toBe(history);
  expect(lastTurns([], 0)).toEqual([]);
});
