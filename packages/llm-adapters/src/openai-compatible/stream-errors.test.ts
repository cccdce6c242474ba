import { expect, test } from 'vitest';

import {
  DONE,
  STOP,
  USAGE,
  ask,
  chunk,
  content,
  errorOf,
  receive,
  serve,
  sse,
  textOf,
} from '../testing/streams.ts';

test('an error object in a normal chunk', async () => {
  const events = await receive(
    sse(content('a'), { error: { message: 'Overloaded', type: 'overloaded_error' } }, DONE),
  );
  expect(textOf(events)).toBe('a');
  expect(errorOf(events)).toMatchObject({ code: 'PROVIDER_OVERLOADED', retryable: true });
});

test('an error after the finish reason and before [DONE] wins, and the usage is kept', async () => {
  const failed = chunk({}, null, { error: { code: 400, message: 'Token limit reached' } });
  const events = await receive(sse(content('a'), chunk({}, 'length'), USAGE, failed, DONE));
  expect(events.map(({ type }) => type)).toEqual(['text-delta', 'usage', 'error']);
  expect(errorOf(events)).toMatchObject({
    code: 'PROVIDER_REQUEST',
    message: 'The provider refused the request: Token limit reached',
    retryable: false,
  });
});

test('an error in a choice', async () => {
  const failed = { choices: [{ index: 0, delta: {}, error: { code: 502, message: 'upstream' } }] };
  expect(errorOf(await receive(sse(failed)))).toMatchObject({
    code: 'PROVIDER_ERROR',
    retryable: true,
  });
});

test('an event named error, with an object or with plain words', async () => {
  const named = (data: string): string => `${sse(content('a'))}event: error\ndata: ${data}\n\n`;
  const object = await receive(named('{"error":{"message":"no","type":"server_error"}}'));
  expect(errorOf(object)).toMatchObject({
    code: 'PROVIDER_ERROR',
    message: 'The provider failed: no',
  });
  expect(errorOf(await receive(named('rate limit')))).toMatchObject({ code: 'PROVIDER_ERROR' });
});

test('a failure in a field of its own, before the end mark of a whole message', async () => {
  const llamaCpp =
    '{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}';
  const events = await receive(`${sse(content('a'))}error: ${llamaCpp}\n\n${sse(DONE)}`);
  expect(textOf(events)).toBe('a');
  expect(errorOf(events)).toMatchObject({ code: 'PROVIDER_CONTEXT_LIMIT', retryable: false });
});

test('an error as plain text', async () => {
  expect(errorOf(await receive(sse({ error: 'model not loaded' })))).toMatchObject({
    code: 'PROVIDER_ERROR',
    message: 'The provider failed: model not loaded',
  });
});

test.for([
  ['error', 'PROVIDER_ERROR'],
  ['insufficient_system_resource', 'PROVIDER_OVERLOADED'],
  ['function_call_filter: MALFORMED_FUNCTION_CALL', 'PROVIDER_ERROR'],
  ['MALFORMED_FUNCTION_CALL', 'PROVIDER_ERROR'],
] as const)('the finish reason %s is an error', async ([reason, code]) => {
  expect(errorOf(await receive(sse(content('a'), chunk({}, reason), DONE))).code).toBe(code);
});

test('a call that the provider could not read is worth another attempt', async () => {
  const error = { message: 'Failed to call a function', type: 'invalid_request_error' };
  const failed = sse({ error: { ...error, code: 'tool_use_failed', failed_generation: '' } }, DONE);
  const whole = sse(content('a'), STOP, DONE);
  const server = await serve([
    { pieces: [failed] },
    { pieces: [sse(chunk({}, 'function_call_filter: MALFORMED_FUNCTION_CALL'), DONE)] },
    { pieces: [whole] },
  ]);
  const retry = { retries: 2, firstWaitMs: 1 };
  expect(textOf(await ask(server, {}, { retry }))).toBe('a');
});

test('nothing follows an error', async () => {
  const events = await receive(sse({ error: { message: 'x' } }, content('late'), STOP, DONE));
  expect(events.map(({ type }) => type)).toEqual(['error']);
});
