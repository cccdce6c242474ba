// What a client is told to do next it can do over HTTP: no command of a terminal, nothing that only a model has.
import { ERROR_CODES } from '@orion/contracts';
import type { ErrorCode, TurnEventsAnswer } from '@orion/contracts';
import { expect, it } from 'vitest';

import type { ApiDocument } from '../openapi/document.ts';
import { askServer, startTestServer } from '../testing/test-server.ts';
import { done, startTurnServer, text } from '../testing/turn-server.ts';
import { httpError } from './http-error.ts';
import { ROUTE_HINTS, routeHint } from './route-hints.ts';

/** As the workspace words it. */
const FORCED =
  'Forced, the undo restores the previous bytes anyway and keeps the present ones as a backup.';
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
  const named = [...Object.values(ROUTE_HINTS), routeHint('TARGET_CHANGED', FORCED)].flatMap(
    (hint) => [...hint.matchAll(/(GET|POST|PUT|DELETE) (\/api\/[\w/{}-]+)/gu)],
  );
  expect(named.length).toBeGreaterThan(15);
  for (const [text, method = '', path = ''] of named)
    expect([text, Object.keys(paths[path] ?? {})]).toEqual([
      text,
      expect.arrayContaining([method.toLowerCase()]),
    ]);
});

it.each([
  ['DISK_FULL', 'Use another disk.'],
  ['APPROVAL_STALE', 'Read the approval again, and decide about what it shows now.'],
  ['SESSION_NOT_FOUND', 'It belongs to /elsewhere: recover it there.'],
  ['INVALID_OPERATION', 'Divide it into several plans.'],
  ['USAGE', 'Decide yes or no.'],
] as const)('the step that an error %s brings with it stays: %s', (code, hint) => {
  expect(routeHint(code, hint)).toBe(hint);
});

it.each([
  ['SESSION_DAMAGED', 'Copy the text of session 1 out.'],
  ['INVALID_PLAN', 'Correct the operation; see docs/guides/write-plans.md.'],
  ['TARGET_CHANGED', 'Add --on-conflict=overwrite to replace it (a backup is kept).'],
  ['INVALID_TOOL_ARGUMENTS', 'Write a script with WritePlanTool_begin, and run that.'],
  ['APPROVAL_STALE', 'Preview the plan again.'],
] as const)('%s has its route in place of a step in other words: %s', (code, hint) => {
  expect(routeHint(code, hint)).toBe(ROUTE_HINTS[code]);
});

it('a step that goes on from the general one of its code keeps both', () => {
  const general = ERROR_CODES.TARGET_LOCKED;
  expect(routeHint('TARGET_LOCKED', `${general} And on.`)).toBe(
    `${ROUTE_HINTS.TARGET_LOCKED ?? ''} And on.`,
  );
});

it('what was edited since leads to the same undo, forced, and not to the recovery of a session', () => {
  expect(routeHint('TARGET_CHANGED', FORCED)).toBe(
    'POST /api/changes/{id}/undo with force restores the previous bytes anyway and keeps the present ones as a backup.',
  );
});

it('a step that is a command gives way', () => {
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
