import { randomUUID } from 'node:crypto';

import { createRoute, z } from '@hono/zod-openapi';
import { OrionError, toErrorInfo } from '@orion/contracts';
import type { UploadCorrections } from '@orion/contracts';

import { errorsOf } from '../answers/described-errors.ts';
import { readRange } from './byte-range.ts';
import { jsonAnswer, jsonBody } from './describe.ts';
import { readUpload } from './read-upload.ts';
import { keyHeaders, requestKeyOf } from './request-key.ts';
import type { RouteOptions, ServerApp } from './route-options.ts';
import { BEGIN, finalizing, takeKey } from './session-keys.ts';
import { findSession, sessionsWith } from './session-owner.ts';
import { storedText } from './stored-text.ts';
import {
  beginRequest,
  correctRequest,
  discardedUpload,
  finalizeRequest,
  offsetQuery,
  openUpload,
  rangeHeaders,
  recoverRequest,
  sessionParams,
  sessionsQuery,
  STANDARD_SESSIONS,
  uploadAnswer,
  uploadDiff,
  uploadsAnswer,
  writtenUpload,
} from './write-sessions.schemas.ts';

const tags = ['Write sessions'];
const BYTES_TYPE = 'application/octet-stream';

/** Of every route that has the session while it works. */
const HAVING = ['SESSION_NOT_FOUND', 'SESSION_BUSY', 'SESSION_DAMAGED', 'SESSION_FOREIGN'] as const;
/** Of every route that may write the file. */
const WRITING = [
  ...HAVING,
  'INVALID_CONTENT',
  'EMPTY_CONTENT',
  'TARGET_CHANGED',
  'APPROVAL_REFUSED',
  'PROTECTED_PATH',
  'DISK_FULL',
] as const;
const CORRECTIONS =
  'An error `INVALID_CONTENT` has the places that are not valid UTF-8 in its details, as ' +
  '`invalid_contexts`; send corrections for them.';

const begin = createRoute({
  method: 'post',
  path: '/api/write-sessions',
  operationId: 'beginWriteSession',
  tags,
  summary: 'Begin to write a file',
  description: 'Holds the file for this session. Its text follows as bytes.',
  request: { headers: keyHeaders, body: jsonBody(beginRequest) },
  responses: {
    200: jsonAnswer(uploadAnswer, 'A request with the same key began this session.'),
    201: jsonAnswer(uploadAnswer, 'The session has begun.'),
    ...errorsOf(
      'PROJECT_NOT_FOUND',
      'FILE_NOT_FOUND',
      'FILE_EXISTS',
      'TARGET_LOCKED',
      'PROTECTED_PATH',
      'APPROVAL_REFUSED',
      'IDEMPOTENCY_MISMATCH',
      'DISK_FULL',
    ),
  },
});

const list = createRoute({
  method: 'get',
  path: '/api/write-sessions',
  operationId: 'listWriteSessions',
  tags,
  summary: 'Write sessions that are not done, newest first',
  request: { query: sessionsQuery },
  responses: { 200: jsonAnswer(uploadsAnswer, 'Some of them, and how many there are.') },
});

const one = createRoute({
  method: 'get',
  path: '/api/write-sessions/{id}',
  operationId: 'readWriteSession',
  tags,
  summary: 'What has become of a session, and where an upload continues',
  request: { params: sessionParams },
  responses: { 200: jsonAnswer(uploadAnswer, 'Its state.'), ...errorsOf('SESSION_NOT_FOUND') },
});

const discard = createRoute({
  method: 'delete',
  path: '/api/write-sessions/{id}',
  operationId: 'discardWriteSession',
  tags,
  summary: 'Put a session aside',
  description: 'Its text stays in the attic for a while, where a recovery finds it.',
  request: { params: sessionParams },
  responses: { 200: jsonAnswer(discardedUpload, 'Where its text is.'), ...errorsOf(...HAVING) },
});

const upload = createRoute({
  method: 'put',
  path: '/api/write-sessions/{id}/content',
  operationId: 'uploadContent',
  tags,
  summary: 'Store bytes behind those that are stored',
  description:
    'The answer comes when they are durable. What has arrived of an upload that breaks off stays; ' +
    '`OFFSET_MISMATCH` names the offset at which the next one continues.',
  request: {
    params: sessionParams,
    query: offsetQuery,
    body: {
      required: true,
      content: { [BYTES_TYPE]: { schema: z.string().openapi({ format: 'binary' }) } },
    },
  },
  responses: {
    200: jsonAnswer(openUpload, 'All of them are stored.'),
    ...errorsOf(
      ...HAVING,
      'OFFSET_MISMATCH',
      'UPLOAD_CLOSED',
      'SESSION_WRITTEN',
      'SESSION_ABORTED',
      'REQUEST_TIMEOUT',
      'CONTENT_TOO_LARGE',
      'DISK_FULL',
    ),
  },
});

const finalize = createRoute({
  method: 'post',
  path: '/api/write-sessions/{id}/finalize',
  operationId: 'finalizeWriteSession',
  tags,
  summary: 'Write the file',
  description: `The text is complete. ${CORRECTIONS} A repeat is answered with the result of the first call.`,
  request: { params: sessionParams, headers: keyHeaders, body: jsonBody(finalizeRequest) },
  responses: {
    200: jsonAnswer(writtenUpload, 'The file is written.'),
    ...errorsOf(...WRITING, 'OFFSET_MISMATCH', 'IDEMPOTENCY_MISMATCH'),
  },
});

const correct = createRoute({
  method: 'post',
  path: '/api/write-sessions/{id}/corrections',
  operationId: 'correctWriteSession',
  tags,
  summary: 'Correct text that is not valid, then write the file',
  description: `Each call ends a round; what is invalid after the third becomes U+FFFD. ${CORRECTIONS}`,
  request: { params: sessionParams, body: jsonBody(correctRequest) },
  responses: { 200: jsonAnswer(writtenUpload, 'The file is written.'), ...errorsOf(...WRITING) },
});

const recover = createRoute({
  method: 'post',
  path: '/api/write-sessions/{id}/recover',
  operationId: 'recoverWriteSession',
  tags,
  summary: 'Take a session over, or write what is saved of it',
  description: 'Also brings a discarded session back, and writes what a model has left.',
  request: { params: sessionParams, body: jsonBody(recoverRequest) },
  responses: {
    200: jsonAnswer(uploadAnswer, 'It is open again, or its file is written.'),
    ...errorsOf(...WRITING, 'QUESTION_OPEN', 'FILE_EXISTS'),
  },
});

const bytesAnswer = (description: string) => ({
  description,
  content: { [BYTES_TYPE]: { schema: z.string().openapi({ format: 'binary' }) } },
});

const content = createRoute({
  method: 'get',
  path: '/api/write-sessions/{id}/content',
  operationId: 'readContent',
  tags,
  summary: 'What is stored of the text',
  request: { params: sessionParams, headers: rangeHeaders },
  responses: {
    200: bytesAnswer('All of it.'),
    206: bytesAnswer('The range that was asked for.'),
    ...errorsOf('SESSION_NOT_FOUND', 'SESSION_BUSY', 'SESSION_WRITTEN', 'RANGE_NOT_SATISFIABLE'),
  },
});

const diff = createRoute({
  method: 'get',
  path: '/api/write-sessions/{id}/diff',
  operationId: 'diffWriteSession',
  tags,
  summary: 'The change that the session would make now',
  request: { params: sessionParams },
  responses: {
    200: jsonAnswer(uploadDiff, 'As a unified diff of at most about 1 MiB.'),
    ...errorsOf(...HAVING, 'TARGET_CHANGED', 'SESSION_WRITTEN'),
  },
});

export function writeSessionRoutes(app: ServerApp, options: RouteOptions): void {
  const { orion, projects, clock, limits, log } = options;
  endingRoutes(app, options);

  app.openapi(begin, async (context) => {
    const request = context.req.valid('json');
    const { projectId, ...asked } = request;
    const owner = projectId === undefined ? orion : projects.of(projectId);
    const key = requestKeyOf(context.req.valid('header'), BEGIN, request);
    const taken = await takeKey(options, projectId, key, randomUUID());
    const existing = taken?.isRepeat === true ? await findSession(projects, taken.made) : null;
    const answer =
      existing ??
      (await owner.writeSessions.begin(asked, {
        ...(taken === null ? {} : { sessionId: taken.made, isNew: true }),
        ...(projectId === undefined ? {} : { projectId }),
      }));
    const location = `/api/write-sessions/${answer.session_id}`;
    return context.json(answer, existing === null ? 201 : 200, { location });
  });

  app.openapi(list, async (context) => {
    const { projectId, limit = STANDARD_SESSIONS } = context.req.valid('query');
    const asked = projectId === undefined ? projects.all : [projects.of(projectId)];
    const found = await Promise.all(asked.map((each) => each.writeSessions.list()));
    const sessions = found.flat().toSorted((a, b) => a.age_ms - b.age_ms);
    return context.json({ sessions: sessions.slice(0, limit), total: sessions.length }, 200);
  });

  app.openapi(one, async (context) => {
    const { id } = context.req.valid('param');
    return context.json(await (await sessionsWith(projects, id)).find(id), 200);
  });

  app.openapi(discard, async (context) => {
    const { id } = context.req.valid('param');
    return context.json(await (await sessionsWith(projects, id)).discard(id), 200);
  });

  app.openapi(upload, async (context) => {
    const { id } = context.req.valid('param');
    const { offset } = context.req.valid('query');
    const sessions = await sessionsWith(projects, id);
    const { incoming } = context.env;
    const source = readUpload(incoming, { stallMs: limits.uploadStallMs, clock });
    return context.json(await sessions.upload(id, offset, source), 200);
  });

  app.openapi(content, async (context) => {
    const { id } = context.req.valid('param');
    const sessions = await sessionsWith(projects, id);
    const found = await sessions.find(id);
    if (found.status === 'done')
      throw new OrionError({
        code: 'SESSION_WRITTEN',
        message: `${found.target_file} is written.`,
      });
    const range = readRange(context.req.valid('header').range, found.bytes);
    if (range === 'beyond')
      throw new OrionError({
        code: 'RANGE_NOT_SATISFIABLE',
        message: `${found.bytes} bytes are stored.`,
        details: { bytes: found.bytes },
      });
    const { start, end } = range === 'whole' ? { start: 0, end: found.bytes } : range;
    const onBroken = (error: unknown): void => {
      log.note(`stored text broken off: ${toErrorInfo(error).code}`);
      context.env.outgoing.destroy();
    };
    // Nothing is read for the head alone: nobody would end the reading.
    const body =
      context.req.raw.method === 'HEAD'
        ? null
        : await storedText(sessions.read(id, start, end), end - start, onBroken);
    return new Response(body, {
      status: range === 'whole' ? 200 : 206,
      headers: {
        'content-type': BYTES_TYPE,
        'content-length': String(end - start),
        'accept-ranges': 'bytes',
        'content-disposition': 'attachment',
        ...(range === 'whole'
          ? {}
          : { 'content-range': `bytes ${start}-${end - 1}/${found.bytes}` }),
      },
    });
  });

  app.openapi(diff, async (context) => {
    const { id } = context.req.valid('param');
    return context.json(await (await sessionsWith(projects, id)).diff(id), 200);
  });
}

/** The requests that may write the file. */
function endingRoutes(app: ServerApp, options: RouteOptions): void {
  const { projects } = options;
  app.openapi(finalize, async (context) => {
    const { id } = context.req.valid('param');
    const request = context.req.valid('json');
    const key = requestKeyOf(context.req.valid('header'), finalizing(id), request);
    await takeKey(options, undefined, key, id);
    const sessions = await sessionsWith(projects, id);
    return context.json(written(await sessions.finalize(id, request)), 200);
  });

  app.openapi(correct, async (context) => {
    const { id } = context.req.valid('param');
    const { corrections } = context.req.valid('json');
    const sessions = await sessionsWith(projects, id);
    return context.json(written(await sessions.correct(id, corrections)), 200);
  });

  app.openapi(recover, async (context) => {
    const { id } = context.req.valid('param');
    const sessions = await sessionsWith(projects, id);
    return context.json(written(await sessions.recover(id, context.req.valid('json'))), 200);
  });
}

/** An answer, or an error with the places of the text that are not valid. */
function written<Answer extends { readonly status: string }>(
  outcome: Answer | UploadCorrections,
): Exclude<Answer, UploadCorrections> {
  if (!isCorrections(outcome)) return outcome as Exclude<Answer, UploadCorrections>;
  const { target_file, invalid_count, session_id } = outcome;
  throw new OrionError({
    code: 'INVALID_CONTENT',
    message: `The text for ${target_file} has ${invalid_count} ${invalid_count === 1 ? 'place that is' : 'places that are'} not valid UTF-8; nothing was written.`,
    hint: `Send what belongs there to /api/write-sessions/${session_id}/corrections, or upload what is missing at the end.`,
    details: {
      ...outcome,
      invalid_contexts: outcome.invalid_contexts.map((place) => ({ ...place })),
    },
  });
}

function isCorrections(outcome: { readonly status: string }): outcome is UploadCorrections {
  return outcome.status === 'needs_corrections' && 'invalid_contexts' in outcome;
}
