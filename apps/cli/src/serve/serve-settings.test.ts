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
  expect(limitsOf('')).toEqual({});
});

it.each(['0', '-1', '1.5', 'standard', 'standard=0', 'none=1', '=1', 'standard=1,', '1e3'])(
  'ORION_TURNS_PER_MINUTE=%s is a problem',
  (text) => {
    const { problems } = serveSettings({}, { ORION_TURNS_PER_MINUTE: text });
    expect(problems).toEqual([expect.stringMatching(/^ORION_TURNS_PER_MINUTE: /u)]);
  },
);

it('how many turns run, and what a project may have, are of the environment', () => {
  const { listen, problems } = serveSettings(
    {},
    { ORION_RUNNING_TURNS: '50', ORION_PROJECT_LIMITS: '{"*": {"running": 20}}' },
  );
  expect(listen).toEqual({ limits: { turns: 50 }, projectLimits: { '*': { running: 20 } } });
  expect(problems).toEqual([]);
});

it.each([
  ['ORION_RUNNING_TURNS', '0'],
  ['ORION_RUNNING_TURNS', 'many'],
  ['ORION_PROJECT_LIMITS', '{'],
  ['ORION_PROJECT_LIMITS', '[]'],
  ['ORION_PROJECT_LIMITS', 'null'],
])('%s=%s is a problem', (name, text) => {
  const { problems } = serveSettings({}, { [name]: text });
  expect(problems).toEqual([expect.stringContaining(name)]);
});
