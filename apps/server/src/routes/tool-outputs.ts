import { createRoute } from '@hono/zod-openapi';
import type { OutputQuestion } from '@orion/agent';
import { defined } from '@orion/contracts';
import type { JsonObject, OutputScope } from '@orion/contracts';

import { errorsOf } from '../answers/described-errors.ts';
import { jsonAnswer, jsonBody, jsonText } from './describe.ts';
import { projectOf } from './project.ts';
import type { RouteOptions, ServerApp, ServerContext } from './route-options.ts';
import {
  countAnswer,
  countRequest,
  extractAnswer,
  extractRequest,
  outputAnswer,
  outputParams,
  outputQuery,
  outputsAnswer,
  outputScope,
  outputsQuery,
  sampleAnswer,
  sampleRequest,
  statsAnswer,
  statsQuery,
} from './tool-outputs.schemas.ts';

/** Of an answer: what a client takes at once, and what a thread may keep busy the process that copies it. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

const tags = ['Tool outputs'];
const unanswered = errorsOf(
  'INVALID_OUTPUT_ID',
  'INVALID_TOOL_ARGUMENTS',
  'OUTPUT_QUERY_INVALID',
  'OUTPUT_QUERY_LIMIT',
  'OUTPUT_NOT_ALLOWED',
  'OUTPUT_NOT_FOUND',
  'PROJECT_NOT_FOUND',
  'OUTPUT_EXPIRED',
  'OUTPUT_CORRUPT',
);

const list = createRoute({
  method: 'get',
  path: '/api/tool-outputs',
  operationId: 'listToolOutputs',
  tags,
  summary: 'Stored results of tools, without their texts',
  request: { query: outputsQuery },
  responses: { 200: jsonAnswer(outputsAnswer, 'Some of them.'), ...unanswered },
});

const read = createRoute({
  method: 'get',
  path: '/api/tool-outputs/{id}',
  operationId: 'readToolOutput',
  tags,
  summary: 'One stored result, or a part of its JSON text',
  request: { params: outputParams, query: outputQuery },
  responses: {
    200: jsonAnswer(outputAnswer, 'The part, if `offset` or `limit` is there.'),
    ...unanswered,
  },
});

const stats = createRoute({
  method: 'get',
  path: '/api/tool-outputs/{id}/stats',
  operationId: 'describeToolOutput',
  tags,
  summary: 'The size, structure and types of a stored result',
  request: { params: outputParams, query: statsQuery },
  responses: { 200: jsonAnswer(statsAnswer, 'What is in it.'), ...unanswered },
});

const extract = createRoute({
  method: 'post',
  path: '/api/tool-outputs/{id}/extract',
  operationId: 'extractFromToolOutput',
  tags,
  summary: 'Parts of a stored result by JSONPath',
  request: { params: outputParams, query: outputScope, body: jsonBody(extractRequest) },
  responses: { 200: jsonAnswer(extractAnswer, 'The matches.'), ...unanswered },
});

const count = createRoute({
  method: 'post',
  path: '/api/tool-outputs/{id}/count',
  operationId: 'countInToolOutput',
  tags,
  summary: 'Counts items, keys or matches in a stored result',
  request: { params: outputParams, query: outputScope, body: jsonBody(countRequest) },
  responses: { 200: jsonAnswer(countAnswer, 'The numbers, and their sum.'), ...unanswered },
});

const sample = createRoute({
  method: 'post',
  path: '/api/tool-outputs/{id}/sample',
  operationId: 'sampleToolOutput',
  tags,
  summary: 'Some items of an array in a stored result',
  request: { params: outputParams, query: outputScope, body: jsonBody(sampleRequest) },
  responses: { 200: jsonAnswer(sampleAnswer, 'The items, in their order.'), ...unanswered },
});

export function toolOutputRoutes(app: ServerApp, options: RouteOptions): void {
  const ask = async <Answer>(
    context: ServerContext,
    operation: OutputQuestion['operation'],
    { projectId, ...args }: OutputScope & object,
  ): Promise<ReturnType<typeof jsonText<Answer>>> => {
    const text = await options.orion.askOutput({
      operation,
      // Its schema has let through nothing but JSON.
      arguments: defined(args) as JsonObject,
      ...projectOf(options, projectId),
      maxCharacters: MOST_CHARACTERS,
      signal: context.req.raw.signal,
    });
    return jsonText<Answer>(text);
  };

  app.openapi(list, (context) => ask(context, 'list', context.req.valid('query')));

  app.openapi(read, (context) => {
    const { req } = context;
    return ask(context, 'read', { ...req.valid('query'), ...req.valid('param') });
  });

  app.openapi(stats, (context) => {
    const { req } = context;
    return ask(context, 'stats', { ...req.valid('query'), ...req.valid('param') });
  });

  app.openapi(extract, (context) => {
    const { req } = context;
    const args = { ...req.valid('json'), ...req.valid('query'), ...req.valid('param') };
    return ask(context, 'extract', args);
  });

  app.openapi(count, (context) => {
    const { req } = context;
    const args = { ...req.valid('json'), ...req.valid('query'), ...req.valid('param') };
    return ask(context, 'count', args);
  });

  app.openapi(sample, (context) => {
    const { req } = context;
    const args = { ...req.valid('json'), ...req.valid('query'), ...req.valid('param') };
    return ask(context, 'sample', args);
  });
}
