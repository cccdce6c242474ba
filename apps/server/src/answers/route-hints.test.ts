// What a client is told to do next it can do over HTTP: no command of a terminal, nothing that only a model has.
import { ERROR_CODES } from '@orion/contracts';
import type { ErrorCode, TurnEventsAnswer } from '@orion/contracts';
import { expect, it } from 'vitest';

import type { ApiDocument } from '../openapi/document.ts';
import { askServer, startTestServer } from '../testing/test-server.ts';
import { done, startTurnServer, text } from '../testing/turn-server.ts';
import { httpError } from './http-error.ts';
import { ROUTE_HINTS, routeHint } from './route-hints.ts';

const CODES = Object.keys(ERROR_CODES) as ErrorCode[];
/** Whoever starts the server and opens its page is at a terminal. */
const AT_A_TERMINAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SERVER_NOT_RUNNING',
  'PAGE_LINK_INVALID',
  'PAGE_LINK_USED',
  'PAGE_SESSION_ENDED',
]);

it('no code has a next step for a terminal or for a model', () => {
  for (const code of CODES.filter((each) => !AT_A_TERMINAL.has(each))) {
    const { hint = '' } = httpError(code, 'x').body.error;
    expect([code, /\borion |WritePlanTool|DONE|docs\/guides/u.exec(hint)]).toEqual([code, null]);
    expect(hint).not.toBe('');
  }
});

it('every route that a next step names is one', async () => {
  const { ask } = await startTestServer();
  const { paths = {} } = (await ask('/openapi.json')).json as ApiDocument;
  const named = Object.values(ROUTE_HINTS).flatMap((hint) => [
    ...hint.matchAll(/(GET|POST|PUT|DELETE) (\/api\/[\w/{}-]+)/gu),
  ]);
  expect(named.length).toBeGreaterThan(15);
  for (const [text, method = '', path = ''] of named)
    expect([text, Object.keys(paths[path] ?? {})]).toEqual([
      text,
      expect.arrayContaining([method.toLowerCase()]),
    ]);
});

it('a step that an error brings with it stays, unless it is a command', () => {
  expect(routeHint('DISK_FULL', 'Use another disk.')).toBe('Use another disk.');
  expect(routeHint('INVALID_CONTENT', 'POST it to /api/write-sessions/1/corrections.')).toContain(
    '/1/',
  );
  expect(routeHint('CONTENT_TOO_LARGE', 'Continue with `orion recover-session 1`.')).toBe(
    ERROR_CODES.CONTENT_TOO_LARGE,
  );
  expect(routeHint('NO_DONE', 'Finish it with `orion recover-session 1`.')).toBe(
    ROUTE_HINTS.NO_DONE,
  );
});

it('an event of a turn that reports an error has it, too, streamed and polled', async () => {
  const server = await startTurnServer();
  const turn = await server.begin('turn-1');
  const error = { code: 'NO_DONE', message: 'm', retryable: false, hint: '`orion x`' } as const;
  await turn.write(text('`orion x`'), { type: 'error', error }, done());
  const path = '/api/turns/turn-1/events';
  const polled = await askServer(server.port, path, { headers: { accept: 'application/json' } });
  const { events } = polled.json as TurnEventsAnswer;
  const shown = { ...error, hint: ROUTE_HINTS.NO_DONE };
  expect(events).toMatchObject([{ content: '`orion x`' }, { error: shown }, { type: 'done' }]);
  const streamed = (await askServer(server.port, path)).text;
  for (const event of events) expect(streamed).toContain(JSON.stringify(event));
});
