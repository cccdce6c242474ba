import { randomUUID } from 'node:crypto';

import { OrionError } from '@orion/contracts';
import type { UploadCorrections } from '@orion/contracts';

import { readRange } from './byte-range.ts';
import { readUpload } from './read-upload.ts';
import { requestKeyOf } from './request-key.ts';
import type { RouteOptions, ServerApp } from './route-options.ts';
import { BEGIN, finalizing, takeKey } from './session-keys.ts';
import { findSession, sessionsWith } from './session-owner.ts';
import {
  begin,
  BYTES_TYPE,
  content,
  correct,
  diff,
  discard,
  finalize,
  list,
  one,
  recover,
  upload,
} from './write-sessions.routes.ts';
import { STANDARD_SESSIONS } from './write-sessions.schemas.ts';

export function writeSessionRoutes(app: ServerApp, options: RouteOptions): void {
  const { orion, projects, clock, limits } = options;
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
    return new Response(ReadableStream.from(copies(sessions.read(id, start, end))), {
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

/** Each chunk is valid only until the next one is asked for. */
async function* copies(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of source) yield Uint8Array.from(chunk);
}
