import { expect, it } from 'vitest';

import { readTyped } from './typed-input.ts';

/** Hazard: a command reaches the model, or a prompt is taken for a command. */

it.each([
  ['', { kind: 'empty' }],
  ['  \n', { kind: 'empty' }],
  ['Hello', { kind: 'prompt', text: 'Hello' }],
  ['  two\n  lines', { kind: 'prompt', text: '  two\n  lines' }],
  ['/help', { kind: 'command', name: 'help', argument: '' }],
  ['  /resume  abc  ', { kind: 'command', name: 'resume', argument: 'abc' }],
  ['/rename a b\nc', { kind: 'command', name: 'rename', argument: 'a b\nc' }],
  ['//etc is a folder', { kind: 'prompt', text: '/etc is a folder' }],
  ['///x', { kind: 'prompt', text: '//x' }],
  ['/etc/hosts says', { kind: 'prompt', text: '/etc/hosts says' }],
  ['/ x', { kind: 'prompt', text: '/ x' }],
  ['/', { kind: 'prompt', text: '/' }],
  ['a /help', { kind: 'prompt', text: 'a /help' }],
])('reads %j', (typed, expected) => {
  expect(readTyped(typed)).toEqual(expected.kind === 'empty' ? expected : { typed, ...expected });
});
