import { expect, test } from 'vitest';

import { commandOf, KEYS } from './keys.ts';
import type { Prefix, Press } from './keys.ts';

const pressed = (key: string, more: Partial<Press> = {}): Press => ({
  key,
  hasCtrl: false,
  hasAlt: false,
  isTyping: false,
  at: 0,
  ...more,
});
const of = (press: Press, before: Prefix | null = null, hasLetters = true) =>
  commandOf(press, before, hasLetters);

test('each key of the table leads to its command', () => {
  for (const { keys, command } of KEYS) {
    for (const name of keys) {
      const [first = '', second] = name.split(' ');
      const hasCtrl = first.startsWith('Ctrl+');
      const one = of(pressed(first.replace('Ctrl+', ''), { hasCtrl }));
      const last = second === undefined ? one : of(pressed(second, { at: 1500 }), one.prefix);
      expect([name, last]).toEqual([name, { command, prefix: null }]);
    }
  }
});

test('the second of two keys counts for a second and a half', () => {
  const { prefix } = of(pressed('g'));
  expect(prefix).toEqual({ key: 'g', at: 0 });
  expect(of(pressed('w', { at: 1500 }), prefix).command).toEqual({ to: '/w' });
  expect(of(pressed('w', { at: 1501 }), prefix)).toEqual({ command: null, prefix: null });
  expect(of(pressed('x'), prefix)).toEqual({ command: null, prefix: null });
  expect(of(pressed('g', { at: 1501 }), prefix).prefix).toEqual({ key: 'g', at: 1501 });
});

test('in a field only Escape and keys with Ctrl are taken', () => {
  const isTyping = true;
  for (const key of ['?', 'j', 'k', '/', '.', 'End', 'Enter', 'g'])
    expect([key, of(pressed(key, { isTyping }))]).toEqual([key, { command: null, prefix: null }]);
  expect(of(pressed('Escape', { isTyping })).command).toBe('back');
  expect(of(pressed('f', { isTyping, hasCtrl: true })).command).toBe('find');
});

test('characters can be switched off, other keys cannot', () => {
  for (const key of ['?', 'j', 'k', '/', '.', 'g'])
    expect(of(pressed(key), null, false)).toEqual({ command: null, prefix: null });
  expect(of(pressed('End'), null, false).command).toBe('end');
  expect(of(pressed('Escape'), null, false).command).toBe('back');
  expect(of(pressed('f', { hasCtrl: true }), null, false).command).toBe('find');
});

test('keys with Alt are the browser’s, and so are unknown ones', () => {
  expect(of(pressed('j', { hasAlt: true }))).toEqual({ command: null, prefix: null });
  expect(of(pressed('g', { hasCtrl: true }))).toEqual({ command: null, prefix: null });
  expect(of(pressed('y'))).toEqual({ command: null, prefix: null });
});

test('no key decides, stops or discards anything', () => {
  const commands = KEYS.map(({ command }) =>
    typeof command === 'object' ? (command?.to ?? 'the element’s own') : command,
  );
  expect(new Set(commands)).toEqual(
    new Set([
      'help',
      'next_row',
      'previous_row',
      'the element’s own',
      'back',
      'find',
      'end',
      'next_approval',
      '/',
      '/c',
      '/w',
      '/changes',
      '/t',
      '/plan',
    ]),
  );
});
