import { expect, test } from 'vitest';

import { parseScript } from './script.ts';

const behaviour = (more: object): object => ({ behaviours: [{ reply: { text: 'a' }, ...more }] });

test.for([
  ['no JSON', '{"behaviours":', /^The script is not JSON/],
  ['no behaviours', {}, /behaviours: /],
  ['an empty list', { behaviours: [] }, /behaviours: /],
  ['an unknown field', behaviour({ wen: {} }), /behaviours\[0\]: .*wen/],
  ['no reply', { behaviours: [{}] }, /behaviours\[0\]\.reply/],
  [
    'two replies',
    { behaviours: [{ reply: { text: 'a', raw: { body: '' } } }] },
    /behaviours\[0\]\.reply: needs one of/,
  ],
  ['a wrong expression', behaviour({ when: { last: { matches: '(' } } }), /when\.last/],
  ['a status without a number', behaviour({ faults: [{ kind: 'status' }] }), /faults\[0\]\.status/],
  ['an unknown fault', behaviour({ faults: [{ kind: 'explode' }] }), /faults\[0\]\.kind/],
  ['a range upside down', behaviour({ shape: { chunk: { min: 3, max: 2 } } }), /shape\.chunk/],
  ['no sizes', behaviour({ shape: { chunk: [] } }), /shape\.chunk/],
  ['result number 0', behaviour({ when: { toolResult: { nth: 0 } } }), /toolResult\.nth/],
] as const)('%s is refused with its place', ([, script, message]) => {
  expect(() => parseScript(script)).toThrow(
    expect.objectContaining({ code: 'SCRIPT_INVALID', message: expect.stringMatching(message) }),
  );
});

test('a script may be text or an object', () => {
  const script = behaviour({});
  expect(parseScript(JSON.stringify(script))).toEqual(parseScript(script));
});
