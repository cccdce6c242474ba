import { createTurnState } from '@orion/contracts';
import type { ProtocolConfig } from '@orion/contracts';
import { expect, test } from 'vitest';
import { resolveProtocolConfig } from './config.ts';
import { ownLimits, ownMemory } from './own.ts';

const defaults = { maxLooks: 1, maxWords: 0 };

test('a limit that is not configured has its default, and 0 is 0 (R135)', () => {
  const given = (limits: ProtocolConfig['limits']) =>
    ownLimits(resolveProtocolConfig({ limits }), 'own', defaults);
  expect(given({})).toEqual(defaults);
  expect(given({ own: undefined, other: { maxLooks: 3 } })).toEqual(defaults);
  expect(given({ own: { maxLooks: 0, maxWords: undefined } })).toEqual({
    maxLooks: 0,
    maxWords: 0,
  });
  expect(given({ own: { maxWords: 7 } })).toEqual({ maxLooks: 1, maxWords: 7 });
});

test('a limit that a protocol does not have is refused by its name (R135)', () => {
  for (const name of ['maxlooks', 'constructor']) {
    expect(() => ownLimits({ limits: { own: { [name]: 1 } } }, 'own', defaults)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `own has no limit "${name}"; it has: maxLooks, maxWords`,
      }),
    );
  }
});

test('a memory begins once in a turn, and each protocol has one of its own', () => {
  const turnState = createTurnState();
  const memory = ownMemory(turnState, 'own', () => ({ looks: 0 }));
  memory.looks = 2;
  expect(ownMemory(turnState, 'own', () => ({ looks: 0 }))).toEqual({ looks: 2 });
  expect(ownMemory(turnState, 'other', () => ({ looks: 0 }))).toEqual({ looks: 0 });
  expect(turnState.memory).toEqual({ own: { looks: 2 }, other: { looks: 0 } });
});
