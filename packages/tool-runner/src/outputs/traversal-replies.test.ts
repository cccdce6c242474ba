import { expect, test } from 'vitest';

import { createReplies } from './traversal-replies.ts';
import type { Question } from './traversal.ts';

const READ: Question = { kind: 'read' };

test('a document is kept for the next question only', () => {
  const reply = createReplies();
  const one = { kind: 'answer', json: '{"output":1}' };
  expect(reply({ document: '1', keep: true, question: READ })).toEqual(one);
  expect(reply({ keep: true, question: READ })).toEqual(one);
  expect(reply({ keep: false, question: READ })).toEqual(one);
  expect(reply({ keep: true, question: READ })).toEqual({
    kind: 'answer',
    json: '{"output":null}',
  });
});

test('a document that is no JSON is none that was kept', () => {
  const reply = createReplies();
  reply({ document: '1', keep: true, question: READ });
  expect(reply({ document: '{', keep: true, question: READ })).toEqual({
    kind: 'corrupt',
    message: expect.stringContaining('SyntaxError: Expected property name') as string,
  });
  expect(reply({ keep: true, question: READ })).toMatchObject({ json: '{"output":null}' });
});

test('a question that cannot be answered is refused with what to do', () => {
  const reply = createReplies();
  expect(
    reply({ document: '1', keep: false, question: { kind: 'extract', paths: ['a'] } }),
  ).toEqual({
    kind: 'refused',
    message: `The path "a" is not a JSONPath: expected '$', found 'a' ('a':0)`,
    suggestion: 'A path begins with $, such as $.items[0].name, $.items[*].id or $..name.',
  });
});

test('more matches than there is memory for are refused', () => {
  const document = `[${'0,'.repeat(1_000_000)}0]`;
  expect(
    createReplies()({ document, keep: false, question: { kind: 'extract', paths: ['$[*]'] } }),
  ).toEqual({
    kind: 'refused',
    message: 'The path "$[*]" has more than 1000000 matches.',
    suggestion: 'Ask for a smaller part: a path without "..", or a deeper place.',
  });
});

test('an answer that is too deep to be written is refused', () => {
  const document = `${'['.repeat(20_000)}1${']'.repeat(20_000)}`;
  expect(createReplies()({ document, keep: false, question: READ })).toEqual({
    kind: 'refused',
    message: 'The answer cannot be written: Maximum call stack size exceeded.',
    suggestion: 'Ask for a smaller part.',
  });
});

test('a defect is not an answer', () => {
  const question = { kind: 'count', queries: null } as unknown as Question;
  expect(() => createReplies()({ document: '1', keep: false, question })).toThrow(TypeError);
});
