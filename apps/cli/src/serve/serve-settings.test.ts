// What the environment says of a server is checked as a whole, and each value that is none has its sentence.
import { expect, it } from 'vitest';

import { serveSettings } from './serve-settings.ts';

const limitsOf = (text: string) =>
  serveSettings({}, { ORION_TURNS_PER_MINUTE: text }).listen.limits;

it('turns a minute are one number for each protocol, or one for all', () => {
  expect(limitsOf('600')).toEqual({
    standardTurnsPerMinute: 600,
    twoStageTurnsPerMinute: 600,
    controllerTurnsPerMinute: 600,
  });
  expect(limitsOf(' standard=600, two_stage = 60 ')).toEqual({
    standardTurnsPerMinute: 600,
    twoStageTurnsPerMinute: 60,
  });
  expect(limitsOf('')).toBeUndefined();
});

it.each(['0', '-1', '1.5', 'standard', 'standard=0', 'none=1', '=1', 'standard=1,', '1e3'])(
  'ORION_TURNS_PER_MINUTE=%s is a problem',
  (text) => {
    const { problems } = serveSettings({}, { ORION_TURNS_PER_MINUTE: text });
    expect(problems).toEqual([expect.stringMatching(/^ORION_TURNS_PER_MINUTE: /u)]);
  },
);
