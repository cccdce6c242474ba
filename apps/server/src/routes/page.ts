import { createRoute } from '@hono/zod-openapi';
import { OrionError } from '@orion/contracts';

import { errorsOf } from '../answers/described-errors.ts';
import { jsonAnswer, jsonBody } from './describe.ts';
import {
  challengeAnswer,
  challengeRequest,
  endParams,
  linkAnswer,
  linkRequest,
  sessionAnswer,
  sessionRequest,
  signedOut,
} from './page.schemas.ts';
import type { RouteOptions, ServerApp } from './route-options.ts';

const tags = ['Page'];

const link = createRoute({
  method: 'post',
  path: '/api/page/links',
  operationId: 'makePageLink',
  tags,
  summary: 'A log-in link for the page: it counts once, for five minutes',
  request: { body: jsonBody(linkRequest) },
  responses: { 200: jsonAnswer(linkAnswer, 'Its path, to be opened in a browser.') },
});

const begin = createRoute({
  method: 'post',
  path: '/api/page/sessions',
  operationId: 'beginPageSession',
  tags,
  security: [{}, { token: [] }],
  summary: 'Exchange the code of a link, or the token, for a session of the page',
  description:
    'With a code and no token, or with the token and no code. A session is used as the token `<id>.<key>`; it is over after 12 hours without use, and after seven days.',
  request: { body: jsonBody(sessionRequest) },
  responses: {
    200: jsonAnswer(sessionAnswer, 'The session.'),
    ...errorsOf('PAGE_LINK_INVALID', 'PAGE_LINK_USED', 'RATE_LIMITED'),
  },
});

const challenge = createRoute({
  method: 'post',
  path: '/api/page/challenge',
  operationId: 'challengeServer',
  tags,
  security: [{}, { token: [] }],
  summary: 'Have the server prove that it knows a session, before its key is sent',
  request: { body: jsonBody(challengeRequest) },
  responses: {
    200: jsonAnswer(challengeAnswer, 'The proof.'),
    ...errorsOf('PAGE_SESSION_ENDED'),
  },
});

const end = createRoute({
  method: 'delete',
  path: '/api/page/sessions/{id}',
  operationId: 'endPageSession',
  tags,
  summary: 'Sign out',
  request: { params: endParams },
  responses: { 200: jsonAnswer(signedOut, 'It is over, or there was none.') },
});

const endAll = createRoute({
  method: 'delete',
  path: '/api/page/sessions',
  operationId: 'endPageSessions',
  tags,
  summary: 'Sign out everywhere, and take all links back',
  responses: { 200: jsonAnswer(signedOut, 'No session is left.') },
});

/** The log-in of the page. */
export function pageRoutes(app: ServerApp, { page }: RouteOptions): void {
  app.openapi(link, (context) => context.json({ path: page.linkPath() }, 200));

  app.openapi(begin, async (context) => {
    const { code } = context.req.valid('json');
    // The front door lets a request without a token come this far, since a code takes its place.
    const hasToken = context.req.header('authorization') !== undefined;
    if (hasToken) return context.json(page.sessions.create(), 200);
    if (code === undefined)
      throw new OrionError({
        code: 'PAGE_LINK_INVALID',
        message: 'There is neither a token nor a code.',
      });
    return context.json(await page.sessions.redeem(code), 200);
  });

  app.openapi(challenge, async (context) => {
    await page.sessions.refresh();
    const { id, challenge: given } = context.req.valid('json');
    return context.json({ proof: page.sessions.prove(id, given) }, 200);
  });

  app.openapi(end, async (context) => {
    await page.sessions.end(context.req.valid('param').id);
    return context.json({ signedOut: true }, 200);
  });

  app.openapi(endAll, async (context) => {
    await page.sessions.endAll();
    return context.json({ signedOut: true }, 200);
  });
}
