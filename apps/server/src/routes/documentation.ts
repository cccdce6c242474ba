import { createRoute, z } from '@hono/zod-openapi';

import { describeApi } from '../openapi/document.ts';
import { documentationPage } from '../openapi/page.ts';
import { jsonAnswer, jsonText } from './describe.ts';
import type { ServerApp } from './route-options.ts';
import { jsonObject } from './shared.schemas.ts';

const tags = ['Documentation'];

const document = createRoute({
  method: 'get',
  path: '/openapi.json',
  operationId: 'readOpenApi',
  tags,
  security: [],
  summary: 'This document',
  responses: { 200: jsonAnswer(jsonObject, 'OpenAPI 3.1.') },
});

const page = createRoute({
  method: 'get',
  path: '/docs',
  operationId: 'readDocumentation',
  tags,
  security: [],
  summary: 'This document as a page',
  responses: {
    200: { description: 'HTML without scripts.', content: { 'text/html': { schema: z.string() } } },
  },
});

/** What describes the routes. All of them have to be there before the first request. */
export function documentationRoutes(app: ServerApp): void {
  const described = once(() => describeApi(app));
  const text = once(() => JSON.stringify(described()));
  const html = once(() => documentationPage(described()));

  app.openapi(document, () => jsonText(text()));

  app.openapi(page, (context) => {
    const { body, policy } = html();
    return context.html(body, 200, { 'content-security-policy': policy });
  });
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}
