import { sleep } from '@orion/contracts';
import type {
  BeginUploadRequest,
  ChangeDiffAnswer,
  ChangesAnswer,
  ChangesQuery,
  CorrectUpload,
  DiscardedUpload,
  FinalizeUpload,
  OpenUpload,
  PlanApplyRequest,
  PlanPreviewAnswer,
  PlanPreviewRequest,
  PlanReport,
  RecoverUpload,
  UndoChangeRequest,
  UndoReport,
  UploadAnswer,
  UploadDiff,
  UploadsAnswer,
  WrittenUpload,
} from '@orion/contracts';

import { isRepeated, OrionClientError } from '../client-error.ts';
import { SLOW_ANSWER_MS } from '../connection.ts';
import type { CallOptions, Connection } from '../connection.ts';
import { createHeldSession } from '../held-session.ts';
import { pauseBefore } from '../pause.ts';
import { get, path, post } from './call.ts';

export type KeyedOptions = CallOptions & {
  /** Names the request, so that it is not done twice; made by chance when left out. */
  readonly idempotencyKey?: string;
};

export type ChangeCalls = {
  /** What can be undone, newest first. */
  list(which?: ChangesQuery, options?: CallOptions): Promise<ChangesAnswer>;
  diff(
    id: string,
    which?: { readonly projectId?: string },
    options?: CallOptions,
  ): Promise<ChangeDiffAnswer>;
  undo(id: string, how?: UndoChangeRequest, options?: CallOptions): Promise<UndoReport>;
};

export type PlanCalls = {
  preview(plan: PlanPreviewRequest, options?: CallOptions): Promise<PlanPreviewAnswer>;
  apply(plan: PlanApplyRequest, options?: CallOptions): Promise<PlanReport>;
};

/** Files written by a program instead of a model. */
export type WriteSessionCalls = {
  begin(session: BeginUploadRequest, options?: KeyedOptions): Promise<UploadAnswer>;
  /** Stores bytes behind those that are stored. Rejects with OFFSET_MISMATCH where `offset` is another place. */
  append(
    sessionId: string,
    offset: number,
    bytes: Uint8Array,
    options?: CallOptions,
  ): Promise<OpenUpload>;
  /**
   * Stores a text as a whole: continues behind what is stored of it, and again after each connection that breaks off,
   * as long as each brings it further.
   */
  upload(sessionId: string, text: Uint8Array, options?: CallOptions): Promise<OpenUpload>;
  finalize(
    sessionId: string,
    what?: FinalizeUpload,
    options?: KeyedOptions,
  ): Promise<WrittenUpload>;
  correct(
    sessionId: string,
    corrections: CorrectUpload,
    options?: CallOptions,
  ): Promise<WrittenUpload>;
  recover(sessionId: string, how?: RecoverUpload, options?: CallOptions): Promise<UploadAnswer>;
  get(sessionId: string, options?: CallOptions): Promise<UploadAnswer>;
  list(
    which?: { readonly projectId?: string; readonly limit?: number },
    options?: CallOptions,
  ): Promise<UploadsAnswer>;
  discard(sessionId: string, options?: CallOptions): Promise<DiscardedUpload>;
  /** What is stored, from one byte to before another. */
  content(
    sessionId: string,
    range?: { readonly from?: number; readonly to?: number },
    options?: CallOptions,
  ): Promise<Uint8Array>;
  diff(sessionId: string, options?: CallOptions): Promise<UploadDiff>;
};

/** Connections in a row that brought nothing. */
const ATTEMPTS = 6;

export function changeCalls(connection: Connection): ChangeCalls {
  return {
    list: (query = {}, call = {}) => get(connection, '/api/changes', { ...call, query }),
    diff: (id, query = {}, call = {}) =>
      get(connection, path`/api/changes/${id}/diff`, { ...call, query }),
    undo: (id, body = {}, call = {}) =>
      post(connection, path`/api/changes/${id}/undo`, { ...call, body }),
  };
}

export function planCalls(connection: Connection): PlanCalls {
  return {
    preview: (body, call = {}) =>
      post(connection, '/api/plans/preview', {
        ...call,
        body,
        isRepeatable: true,
        silentMs: SLOW_ANSWER_MS,
      }),
    apply: (body, call = {}) => post(connection, '/api/plans/apply', { ...call, body }),
  };
}

export function writeSessionCalls(connection: Connection): WriteSessionCalls {
  const of = (sessionId: string): string => path`/api/write-sessions/${sessionId}`;
  const calls: WriteSessionCalls = {
    begin: (body, { idempotencyKey: key = crypto.randomUUID(), ...call } = {}) =>
      post(connection, '/api/write-sessions', { ...call, body, key }),
    append: (sessionId, offset, bytes, call = {}) =>
      connection.json({
        ...call,
        method: 'PUT',
        path: `${of(sessionId)}/content`,
        query: { offset },
        headers: { 'content-type': 'application/octet-stream' },
        body: bytes,
      }),
    upload: (sessionId, text, call) => uploadAll(connection, calls, { sessionId, text }, call),
    finalize: (sessionId, body = {}, options = {}) => {
      const { idempotencyKey: key = crypto.randomUUID(), ...call } = options;
      return post(connection, `${of(sessionId)}/finalize`, {
        ...call,
        body,
        key,
        silentMs: SLOW_ANSWER_MS,
      });
    },
    correct: (sessionId, body, call = {}) =>
      post(connection, `${of(sessionId)}/corrections`, { ...call, body }),
    recover: (sessionId, body = {}, call = {}) =>
      post(connection, `${of(sessionId)}/recover`, { ...call, body }),
    get: (sessionId, call) => get(connection, of(sessionId), call),
    list: (query = {}, call = {}) => get(connection, '/api/write-sessions', { ...call, query }),
    discard: (sessionId, call = {}) =>
      connection.json({ ...call, method: 'DELETE', path: of(sessionId) }),
    async content(sessionId, { from, to } = {}, call = {}) {
      // Which no range can say.
      if (to !== undefined && to <= (from ?? 0)) return new Uint8Array();
      const range = from === undefined && to === undefined ? null : rangeOf(from ?? 0, to);
      return connection.bytes({
        ...call,
        path: `${of(sessionId)}/content`,
        headers: {
          accept: 'application/octet-stream',
          ...(range === null ? {} : { range }),
        },
      });
    },
    diff: (sessionId, call) => get(connection, `${of(sessionId)}/diff`, call),
  };
  return calls;
}

function rangeOf(from: number, to: number | undefined): string {
  return `bytes=${from}-${to === undefined ? '' : to - 1}`;
}

async function uploadAll(
  { clock }: Pick<Connection, 'clock'>,
  calls: Pick<WriteSessionCalls, 'get' | 'append'>,
  { sessionId, text }: { readonly sessionId: string; readonly text: Uint8Array },
  call: CallOptions = {},
): Promise<OpenUpload> {
  let stored = -1;
  let isHeld = createHeldSession(clock);
  for (let attempt = 1, failures = 0; ; attempt += 1) {
    const found = await calls.get(sessionId, call);
    if (found.status === 'done') throw written(sessionId);
    if (found.bytes > text.length) throw longer(found, text);
    if (found.bytes > stored) {
      [attempt, failures] = [1, 0];
      isHeld = createHeldSession(clock);
    }
    stored = found.bytes;
    try {
      return await calls.append(sessionId, stored, text.subarray(stored), call);
    } catch (error) {
      if (!(error instanceof OrionClientError)) throw error;
      // The connection that broke may still hold the session, and may still have brought something.
      if (!isHeld(error)) {
        failures += 1;
        const isPassing = isRepeated(error) || error.code === 'OFFSET_MISMATCH';
        if (!isPassing || failures >= ATTEMPTS) throw error;
      }
      const { signal } = call;
      const pause = pauseBefore(attempt, { leastMs: error.retryAfterMs });
      await sleep(clock, pause, ...(signal === undefined ? [] : [signal]));
      signal?.throwIfAborted();
    }
  }
}

function longer({ session_id: id, bytes }: OpenUpload, text: Uint8Array): OrionClientError {
  return new OrionClientError({
    code: 'OFFSET_MISMATCH',
    message: `The session ${id} has ${bytes} bytes, and the text only ${text.length}: it has another one.`,
    status: 409,
    details: { offset: bytes },
  });
}

function written(sessionId: string): OrionClientError {
  return new OrionClientError({
    code: 'SESSION_WRITTEN',
    message: `The file of the session ${sessionId} is written.`,
    status: 409,
  });
}
