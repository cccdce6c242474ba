import { createRoute, z } from '@hono/zod-openapi';

import { errorsOf } from '../answers/described-errors.ts';
import { jsonAnswer, jsonBody } from './describe.ts';
import { keyHeaders } from './request-key.ts';
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
  uploadAnswer,
  uploadDiff,
  uploadsAnswer,
  writtenUpload,
} from './write-sessions.schemas.ts';

const tags = ['Write sessions'];
export const BYTES_TYPE = 'application/octet-stream';

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

export const begin = createRoute({
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

export const list = createRoute({
  method: 'get',
  path: '/api/write-sessions',
  operationId: 'listWriteSessions',
  tags,
  summary: 'Write sessions that are not done, newest first',
  request: { query: sessionsQuery },
  responses: { 200: jsonAnswer(uploadsAnswer, 'Some of them, and how many there are.') },
});

export const one = createRoute({
  method: 'get',
  path: '/api/write-sessions/{id}',
  operationId: 'readWriteSession',
  tags,
  summary: 'What has become of a session, and where an upload continues',
  request: { params: sessionParams },
  responses: { 200: jsonAnswer(uploadAnswer, 'Its state.'), ...errorsOf('SESSION_NOT_FOUND') },
});

export const discard = createRoute({
  method: 'delete',
  path: '/api/write-sessions/{id}',
  operationId: 'discardWriteSession',
  tags,
  summary: 'Put a session aside',
  description: 'Its text stays in the attic for a while, where a recovery finds it.',
  request: { params: sessionParams },
  responses: { 200: jsonAnswer(discardedUpload, 'Where its text is.'), ...errorsOf(...HAVING) },
});

export const upload = createRoute({
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

export const finalize = createRoute({
  method: 'post',
  path: '/api/write-sessions/{id}/finalize',
  operationId: 'finalizeWriteSession',
  tags,
  summary: 'Write the file',
  description: `The text is complete. ${CORRECTIONS} Repeated, it is answered with what came of it.`,
  request: { params: sessionParams, headers: keyHeaders, body: jsonBody(finalizeRequest) },
  responses: {
    200: jsonAnswer(writtenUpload, 'The file is written.'),
    ...errorsOf(...WRITING, 'OFFSET_MISMATCH', 'IDEMPOTENCY_MISMATCH'),
  },
});

export const correct = createRoute({
  method: 'post',
  path: '/api/write-sessions/{id}/corrections',
  operationId: 'correctWriteSession',
  tags,
  summary: 'Correct text that is not valid, then write the file',
  description: `Each call ends a round; what is invalid after the third becomes U+FFFD. ${CORRECTIONS}`,
  request: { params: sessionParams, body: jsonBody(correctRequest) },
  responses: { 200: jsonAnswer(writtenUpload, 'The file is written.'), ...errorsOf(...WRITING) },
});

export const recover = createRoute({
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

export const content = createRoute({
  method: 'get',
  path: '/api/write-sessions/{id}/content',
  operationId: 'readContent',
  tags,
  summary: 'What is stored of the text',
  request: { params: sessionParams, headers: rangeHeaders },
  responses: {
    200: bytesAnswer('All of it.'),
    206: bytesAnswer('The range that was asked for.'),
    ...errorsOf('SESSION_NOT_FOUND', 'SESSION_WRITTEN', 'RANGE_NOT_SATISFIABLE'),
  },
});

export const diff = createRoute({
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
