import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mayBeOfCall, newSessionId } from './session-id.ts';

/** Hazard: the session of a call is not found by its id, or a look for it reads those of all others. */

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;
/** Providers and models name their calls as they like. */
const CALL = fc.record({
  requestId: fc.uuid(),
  callId: fc.oneof(fc.string({ unit: 'binary' }), fc.constant('\ud800'), fc.constant('')),
});

test('an id is a UUID v4 of its own, and tells of its call', () => {
  fc.assert(
    fc.property(CALL, (call) => {
      const ids = [newSessionId(call), newSessionId(call)];
      expect(new Set(ids).size).toBe(2);
      for (const id of ids) {
        expect(id).toMatch(UUID_V4);
        expect(mayBeOfCall(call)(id)).toBe(true);
      }
    }),
  );
  expect(newSessionId()).toMatch(UUID_V4);
});

test.each([
  ['another call', { requestId: 'a', callId: 'c' }],
  ['another turn', { requestId: 'b', callId: 'b' }],
  ['the same letters, divided otherwise', { requestId: 'ab', callId: '' }],
])('%s has other ids', (_, other) => {
  expect(mayBeOfCall(other)(newSessionId({ requestId: 'a', callId: 'b' }))).toBe(false);
  expect(mayBeOfCall(other)(newSessionId())).toBe(false);
});
