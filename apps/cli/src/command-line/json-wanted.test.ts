import { expect, it } from 'vitest';

import { wantsResultLine } from './json-wanted.ts';

it.each<[string[], Record<string, string>, boolean]>([
  [['run', '--json'], {}, true],
  [['run', 'x', '--json', '--bogus'], {}, true],
  [['recover-session', '--json'], {}, true],
  [['run', '--', '--json'], {}, false],
  [['run', 'x'], { ORION_JSON: 'TRUE' }, true],
  [['run', 'x'], { ORION_JSON: 'false' }, false],
  [['run', '--json', '--help'], {}, false],
  [['list-sessions', '--json'], {}, false],
  [[], {}, false],
])('%j with %j ends with a result line: %s', (argv, environment, wanted) => {
  expect(wantsResultLine(argv, environment)).toBe(wanted);
});
