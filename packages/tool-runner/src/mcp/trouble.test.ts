import { KeysInUse } from '@orion/contracts';
import { expect, test } from 'vitest';

import {
  ENDED_EARLY,
  hasRefusedRevision,
  isRefusal,
  lastWords,
  troubleOf,
  words,
} from './trouble.ts';

const KEY = 'canary-0123456789';
const { redact } = new KeysInUse([KEY]);
const like = (message: string, fields: object): Error => Object.assign(new Error(message), fields);
const fetchFailed = (cause: Error): Error => new TypeError('fetch failed', { cause });

test.each([
  [
    like('x', { status: 401 }),
    /^it answered with HTTP status 401, which asks for other credentials: check its headers in the configuration$/u,
  ],
  [
    like('x', { status: 403 }),
    /^it answered with HTTP status 403, which refuses the configured credentials$/u,
  ],
  [
    like('x', { status: 404 }),
    /^it answered with HTTP status 404: there is no MCP server at its URL, or it has forgotten the session$/u,
  ],
  [
    like('x', { status: 405 }),
    /^it answered with HTTP status 405: it does not speak streamable HTTP$/u,
  ],
  [like('x', { status: 503, code: 'INVALID_RESULT' }), /^it answered with HTTP status 503$/u],
  [
    like('x', { code: 'CLIENT_HTTP_UNEXPECTED_CONTENT' }),
    /^it answered with neither JSON nor an event stream$/u,
  ],
  [like('x', { code: 'CONNECTION_CLOSED' }), /^the connection was closed$/u],
  [
    like('x', { code: 'INVALID_RESULT' }),
    /^it answered with what is not a result of the request$/u,
  ],
  [
    like('x', { code: 'ERA_NEGOTIATION_FAILED', cause: like('y', { status: 500 }) }),
    /^it answered with HTTP status 500$/u,
  ],
  [like('no era', { code: 'ERA_NEGOTIATION_FAILED' }), /^no era$/u],
  [new SyntaxError('Unexpected token'), /^it answered with what is not a JSON-RPC message$/u],
  [like('[]', { name: '$ZodError' }), /^it answered with what is not a JSON-RPC message$/u],
  [fetchFailed(like('x', { code: 'ECONNREFUSED' })), /^it cannot be reached \(ECONNREFUSED\)$/u],
  [fetchFailed(new Error(`by ${KEY}`)), /^it cannot be reached \(by \[REDACTED\]\)$/u],
  [new TypeError('other'), /^other$/u],
  [like('said', { cause: new Error('inner') }), /^said$/u],
  [like('no', { code: -32_000 }), /^it answered with an error: no$/u],
  [like(ENDED_EARLY, { code: -32_000 }), /^it ended the connection without an answer$/u],
  [like('odd', { code: 'OTHER' }), /^odd$/u],
  ['a text', /^a text$/u],
])('says what has gone wrong: %s', (error, said) => {
  expect(troubleOf(error, redact)).toMatch(said);
});

test.each([
  [true, like('x', { status: 400 })],
  [true, like('x', { status: 499 })],
  [false, like('x', { status: 399 })],
  [false, like('x', { status: 500 })],
  [true, like('no', { code: -32_000 })],
  [false, like(ENDED_EARLY, { code: -32_000 })],
  [true, fetchFailed(like('x', { code: 'ECONNREFUSED' }))],
  [false, fetchFailed(like('x', { code: 'ECONNRESET' }))],
  [false, like('x', { cause: { code: 'ECONNREFUSED' } })],
  [false, new TypeError('other')],
  [false, like('x', { code: 'REQUEST_TIMEOUT' })],
])('knows whether a request was not taken on: %s, %s', (isRefused, error) => {
  expect(isRefusal(error)).toBe(isRefused);
});

test.each([
  [true, like('x', { code: 'ERA_NEGOTIATION_FAILED', status: 500 })],
  [false, like('x', { code: 'ERA_NEGOTIATION_FAILED' })],
  [false, like('x', { code: 'CLIENT_HTTP_AUTHENTICATION', status: 401 })],
])('knows whether a server failed at the question for the new revision: %s', (isRefused, error) => {
  expect(hasRefusedRevision(error)).toBe(isRefused);
});

test('shows a bounded part of what a server says, without half a key or half a character', () => {
  expect(words('x'.repeat(1_000), redact)).toHaveLength(1_000);
  expect(words('x'.repeat(1_001), redact)).toHaveLength(1_000);
  expect(words(` ${'x'.repeat(990)}${KEY}`, redact)).toBe(`${'x'.repeat(990)}[REDACTED`.trim());
  expect(words(`${'x'.repeat(999)}\u{1F30D}`, redact)).toBe(`${'x'.repeat(999)}\uFFFD`);
  expect(lastWords(`${KEY} at last\n`, redact, 12)).toBe('ED] at last');
  expect(lastWords('x'.repeat(301), redact, 300)).toHaveLength(300);
  expect(lastWords('\u{1F30D}abc', redact, 4)).toBe('\uFFFDabc');
});
