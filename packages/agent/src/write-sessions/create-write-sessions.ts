import { randomUUID } from 'node:crypto';

import type {
  ClaimedSession,
  Clock,
  JsonObject,
  OpenUpload,
  RecoverUpload,
  SessionHandle,
  SessionRecord,
  UploadAnswer,
  UploadCorrections,
  Workspace,
  WrittenUpload,
} from '@orion/contracts';
import { defined, OrionError } from '@orion/contracts';
import {
  createDoneScan,
  describeInvalid,
  endDoneScan,
  fileEndOf,
  MAX_BEGIN_ARGUMENT_BYTES,
  readBeginRequest,
  recordOf,
  repairedText,
  restoreSession,
  summaryOfBytes,
} from '@orion/core';
import type { WritePlanTool, WriteSession } from '@orion/core';

import { sessionSettingsOf } from '../config/derived-settings.ts';
import type { Settings } from '../config/settings.ts';
import { readUploaded } from '../turn/recovery.ts';
import type { TurnAdmission } from '../turn/turn-admission.ts';
import type { Decision } from '../turn/turn-scope.ts';
import { finalizedBy } from './finalized-by.ts';
import { KeptSessions } from './kept-sessions.ts';
import type { KeptSession } from './kept-sessions.ts';
import { receiveBytes } from './receive-bytes.ts';
import { openUpload, writtenUpload } from './session-view.ts';
import type { LocalFacts } from './session-view.ts';
import {
  alreadyWritten,
  discarded,
  lost,
  offsetMismatch,
  tooLongToBegin,
  uploadClosed,
  usage,
  withProgress,
} from './upload-errors.ts';
import type { BeginUploadOptions, WriteSessions } from './write-sessions.ts';
import { WrittenUploads } from './written-uploads.ts';

const IDLE_MS = 60_000;
const MOST_KEPT = 64;
const DIFF_LIMIT = 1024 * 1024;

type EndOptions = {
  /** What the text has to have. */
  readonly bytes?: number | undefined;
  /** Also for one that was discarded. */
  readonly isRecovery?: boolean;
};

export type WriteSessionsOptions = {
  readonly workspace: Workspace;
  readonly writePlanTool: WritePlanTool;
  readonly turns: Pick<TurnAdmission, 'run'>;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly record: (
    type: string,
    details: Readonly<Record<string, unknown>>,
    sessionId: string,
  ) => void;
};

/**
 * Uploads between calls, and the calls.
 *
 * A call takes its session, and gives it back or keeps it for the next one. What finalizes a session runs as the recovery
 * of any other does, so there is one way to a file.
 */
class Uploads implements WriteSessions {
  readonly #options: WriteSessionsOptions;
  readonly #sessions: KeptSessions;
  readonly #stop = new AbortController();
  readonly #written: WrittenUploads;
  /** Those that are beginning, by the id that their caller chose. */
  readonly #beginning = new Map<string, Promise<UploadAnswer>>();

  constructor(options: WriteSessionsOptions) {
    this.#options = options;
    const { workspace, clock } = options;
    this.#written = new WrittenUploads(workspace);
    this.#sessions = new KeptSessions({
      claim: (sessionId) => workspace.sessions.claim(sessionId),
      clock,
      idleMs: IDLE_MS,
      most: MOST_KEPT,
    });
  }

  async begin(
    request: Parameters<WriteSessions['begin']>[0],
    { sessionId, isNew = false, projectId }: BeginUploadOptions = {},
  ): Promise<UploadAnswer> {
    if (sessionId === undefined) return this.#begin(request, randomUUID(), projectId);
    const running = this.#beginning.get(sessionId);
    if (running !== undefined) return running;
    const begun = (isNew ? Promise.resolve(null) : this.#findIf(sessionId))
      .then((found) => found ?? this.#begin(request, sessionId, projectId))
      .finally(() => this.#beginning.delete(sessionId));
    this.#beginning.set(sessionId, begun);
    return begun;
  }

  async #begin(
    request: Parameters<WriteSessions['begin']>[0],
    sessionId: string,
    projectId: string | undefined,
  ): Promise<UploadAnswer> {
    const { writePlanTool, record: trace } = this.#options;
    if (Buffer.byteLength(JSON.stringify(request)) > MAX_BEGIN_ARGUMENT_BYTES)
      throw tooLongToBegin(MAX_BEGIN_ARGUMENT_BYTES);
    const { intent, target_file, operation, location = null } = request;
    const { final_newline = true, start_on_new_line = false } = request;
    const args = { intent, target_file, operation, final_newline, start_on_new_line };
    const begin = readBeginRequest({ ...args, location: location as JsonObject | null });
    return this.#sessions.exclusively(sessionId, async () => {
      const { handle } = await writePlanTool.begin({ ...begin, upload: { sessionId } });
      writePlanTool.forget(sessionId);
      const record = recordOf(this.#sessionOf(handle, null, NO_TEXT));
      try {
        // Unlike a model, its client can wait for a disk that takes the text.
        await handle.save(record);
      } catch (error) {
        await handle.remove();
        throw error;
      }
      this.#sessions.keep(handle, record);
      const details = { target: handle.metadata.target_file, operation };
      trace('write_session_begun', { ...details, ...defined({ label: projectId }) }, sessionId);
      return this.#view(sessionId);
    });
  }

  async upload(
    sessionId: string,
    offset: number,
    source: AsyncIterable<Uint8Array>,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<OpenUpload> {
    const { settings, clock, record } = this.#options;
    return this.#sessions.exclusively(sessionId, async () => {
      const { handle, record: saved } = await this.#take(sessionId);
      const repair = saved?.repair ?? null;
      if (repair !== null && repair.rounds.length > 0) throw uploadClosed(handle);
      if (offset !== handle.bytes()) throw offsetMismatch(handle, offset);
      // More text may complete what was not valid.
      const { repair: _, ...begun } = saved ?? recordOf(this.#sessionOf(handle, null, NO_TEXT));
      const state = { ...begun, state: 'session_active.paused', code: 'NO_DONE' } as const;
      this.#sessions.keep(handle, state);
      try {
        if (handle.persistence() === 'memory') await handle.save(state);
        await receiveBytes({
          handle,
          record: state,
          source,
          maxBytes: settings.maxBytes,
          saveMs: settings.saveMs,
          clock,
          signal: AbortSignal.any([this.#stop.signal, ...(signal === undefined ? [] : [signal])]),
        });
      } catch (error) {
        if (handle.lost.aborted) throw lost(sessionId);
        throw withProgress(error, handle);
      } finally {
        record('write_session_uploaded', { offset, bytes: handle.bytes() - offset }, sessionId);
      }
      return this.#view(sessionId);
    });
  }

  finalize(
    sessionId: string,
    { bytes, allowEmpty = false }: Parameters<WriteSessions['finalize']>[1] = {},
  ): Promise<WrittenUpload | UploadCorrections> {
    return this.#end(sessionId, { upload: { answers: null, allowEmpty } }, { bytes });
  }

  correct(
    sessionId: string,
    corrections: Parameters<WriteSessions['correct']>[1],
  ): Promise<WrittenUpload | UploadCorrections> {
    return this.#end(sessionId, { upload: { answers: corrections, allowEmpty: false } });
  }

  async recover(
    sessionId: string,
    { finalize = false, ...decision }: RecoverUpload = {},
  ): Promise<UploadAnswer | UploadCorrections> {
    const found = await this.find(sessionId);
    if (found.status === 'done') return found;
    const { onConflict, endAt, answer } = decision;
    if (!finalize && Object.keys(decision).length > 0)
      throw usage('onConflict, endAt and answer belong to a recovery with finalize.');
    if (found.uploaded && (endAt !== undefined || answer !== undefined))
      throw usage('endAt and answer are for the questions of a model: this text was uploaded.');
    if (!found.uploaded && !finalize)
      throw usage(
        'A model writes this session: only a turn continues it. To write what is saved, add finalize.',
      );
    if (finalize) {
      const upload = { answers: null, allowEmpty: false };
      const decided = found.uploaded ? { upload, ...defined({ onConflict }) } : decision;
      return this.#end(sessionId, decided, { isRecovery: true });
    }
    return this.#sessions.exclusively(sessionId, async () => {
      const taken = await this.#takeBack(sessionId);
      return taken.kind === 'written' ? taken.written : this.#view(sessionId);
    });
  }

  async find(sessionId: string): Promise<UploadAnswer> {
    await this.#beginning.get(sessionId)?.catch(() => undefined);
    const found = await this.#findIf(sessionId);
    if (found !== null) return found;
    // Rejects with what there is to say about the id.
    return openUpload(
      await this.#options.workspace.sessions.find(sessionId),
      this.#local(sessionId),
    );
  }

  async list(): Promise<readonly OpenUpload[]> {
    const listings = await this.#options.workspace.sessions.list();
    return listings.map((listing) => openUpload(listing, this.#local(listing.session_id)));
  }

  discard(sessionId: string): ReturnType<WriteSessions['discard']> {
    const { workspace, record } = this.#options;
    return this.#sessions.exclusively(sessionId, async () => {
      let attic: string | null = null;
      if (this.#sessions.isKept(sessionId)) {
        await this.#sessions.giveBack(sessionId, async (handle) => {
          ({ attic } = await handle.discard());
        });
      }
      attic ??= (await workspace.sessions.discard(sessionId)).attic;
      record('write_session_discarded', { attic }, sessionId);
      return { session_id: sessionId, status: 'discarded', attic };
    });
  }

  read(sessionId: string, start?: number, end?: number): AsyncIterable<Uint8Array> {
    return this.#options.workspace.sessions.readContent(sessionId, start, end);
  }

  diff(sessionId: string, limit: number = DIFF_LIMIT): ReturnType<WriteSessions['diff']> {
    const { writePlanTool } = this.#options;
    const look = async (): ReturnType<WriteSessions['diff']> => {
      const { handle, record } = await this.#sessions.take(sessionId);
      const { uploaded, target_file } = handle.metadata;
      writePlanTool.adopt(handle);
      try {
        const lines: string[] = [];
        let length = 0;
        let truncated = false;
        const { content_start: start = 0, content_end = null, repair = null } = record ?? {};
        const end = uploaded === true ? await this.#endOf(handle) : content_end;
        for await (const line of await writePlanTool.diffSession(sessionId, {
          start,
          end,
          repair,
        })) {
          truncated = length + line.length > limit;
          if (truncated) break;
          lines.push(`${line}\n`);
          length += line.length + 1;
        }
        return { session_id: sessionId, target_file, diff: lines.join(''), truncated };
      } finally {
        writePlanTool.forget(sessionId);
        if (uploaded === true) this.#sessions.keep(handle, record);
        else await handle.release();
      }
    };
    return this.#sessions.exclusively(sessionId, look, { isLook: true });
  }

  /** Ends uploads, waits for the other calls, and gives all sessions back. */
  async close(): Promise<void> {
    this.#stop.abort(new OrionError({ code: 'SERVER_STOPPING', message: 'The process ends.' }));
    await this.#sessions.close();
  }

  /** Has the file written. The text is saved first: what only memory holds would be missing in it. */
  #end(
    sessionId: string,
    decision: Decision,
    { bytes, isRecovery = false }: EndOptions = {},
  ): Promise<WrittenUpload | UploadCorrections> {
    return this.#sessions.exclusively(sessionId, async () => {
      const found = this.#sessions.isKept(sessionId) ? null : await this.#findIf(sessionId);
      if (found?.status === 'done') return found;
      if (found?.status === 'discarded' && !isRecovery) throw discarded(sessionId);
      if (decision.upload !== undefined) {
        const taken = await this.#takeBack(sessionId, decision);
        if (taken.kind === 'written') return taken.written;
        const { handle, record } = taken;
        if (bytes !== undefined && bytes !== handle.bytes()) throw offsetMismatch(handle, bytes);
        if (record !== null) await handle.save(record);
      }
      return this.#finalize(sessionId, decision);
    });
  }

  /** For the call that has the session. */
  async #finalize(
    sessionId: string,
    decision: Decision,
  ): Promise<WrittenUpload | UploadCorrections> {
    await this.#sessions.giveBack(sessionId);
    const task = { kind: 'finalize', sessionId, decision } as const;
    const outcome = await this.#written.orWritten(sessionId, () =>
      finalizedBy(this.#options.turns.run(task, {})),
    );
    if ('status' in outcome) return outcome;
    if (outcome.kind === 'invalid') return this.#invalidPlaces(sessionId);
    const written = writtenUpload(outcome.receipt);
    this.#written.add(sessionId, written);
    return written;
  }

  async #invalidPlaces(sessionId: string): Promise<UploadCorrections> {
    const { handle, record } = await this.#take(sessionId);
    const repair = record?.repair ?? null;
    const { target_file: target } = handle.metadata;
    const text = repairedText(() => handle.readContent(), repair);
    const found = await describeInvalid({ sessionId, target, text, repair });
    const { invalid_contexts, invalid_count, attempt, max_attempts } = found;
    return {
      session_id: sessionId,
      status: 'needs_corrections',
      target_file: target,
      invalid_contexts,
      invalid_count,
      attempt,
      max_attempts,
    };
  }

  /** For the call that has the session, which has to be an upload that is not over. */
  async #take(sessionId: string): Promise<KeptSession> {
    if (!this.#sessions.isKept(sessionId)) {
      const found = await this.#findIf(sessionId);
      if (found?.status === 'done') throw alreadyWritten(found);
      if (found?.status === 'discarded') throw discarded(sessionId);
    }
    const taken = await this.#takeBack(sessionId);
    if (taken.kind === 'written') throw alreadyWritten(taken.written);
    return taken;
  }

  /** The same, also from the attic. A commit that a dead process had begun is settled first. */
  async #takeBack(
    sessionId: string,
    decision: Decision = { upload: { answers: null, allowEmpty: true } },
  ): Promise<
    | (KeptSession & { readonly kind: 'kept' })
    | { readonly kind: 'written'; readonly written: WrittenUpload }
  > {
    const taken = await this.#written.orWritten(sessionId, () => this.#sessions.take(sessionId));
    if ('status' in taken) return { kind: 'written', written: taken };
    const { handle, record } = taken;
    if (handle.metadata.uploaded !== true) {
      await handle.release();
      throw usage('A model writes this session: no bytes can be uploaded to it.');
    }
    this.#sessions.keep(handle, record);
    if (!hasBegunToWrite(taken)) return { kind: 'kept', handle, record };
    const ended = await this.#finalize(sessionId, decision);
    if (ended.status === 'done') return { kind: 'written', written: ended };
    return { kind: 'kept', ...(await this.#sessions.take(sessionId)) };
  }

  #sessionOf(
    handle: SessionHandle,
    record: SessionRecord | null,
    content: Awaited<ReturnType<typeof readUploaded>>,
  ): WriteSession {
    const settings = sessionSettingsOf(this.#options.settings, null);
    return restoreSession({ metadata: handle.metadata, settings, record, ...content });
  }

  /** Where the file ends in an uploaded text. */
  async #endOf(handle: SessionHandle): Promise<number | null> {
    if (handle.metadata.final_newline) return null;
    return fileEndOf(this.#sessionOf(handle, null, await readUploaded(handle)));
  }

  /** One that this call has is not in use for whoever made the call. */
  async #view(sessionId: string): Promise<OpenUpload> {
    const listing = await this.#options.workspace.sessions.find(sessionId);
    return openUpload(listing, { ...this.#local(sessionId), used: false });
  }

  #local(sessionId: string): LocalFacts {
    const sessions = this.#sessions;
    return {
      kept: sessions.isKept(sessionId),
      used: sessions.isUsed(sessionId),
      bytes: sessions.bytesOf(sessionId),
    };
  }

  /** Null if there is none, and nothing was written of it. */
  #findIf(sessionId: string): Promise<UploadAnswer | null> {
    const { sessions } = this.#options.workspace;
    const find = async (): Promise<UploadAnswer> =>
      openUpload(await sessions.find(sessionId), this.#local(sessionId));
    return this.#written.orWritten(sessionId, find).catch((error: unknown) => {
      if (OrionError.isInstance(error) && error.code === 'SESSION_NOT_FOUND') return null;
      throw error;
    });
  }
}

export function createWriteSessions(
  options: WriteSessionsOptions,
): WriteSessions & { readonly close: () => Promise<void> } {
  return new Uploads(options);
}

const NO_TEXT = {
  summary: summaryOfBytes({ bytes: 0, lineFeeds: 0, ending: '' }),
  innerDone: endDoneScan(createDoneScan()),
} as const;

function hasBegunToWrite(taken: KeptSession | ClaimedSession): boolean {
  return 'writing' in taken && taken.writing !== null;
}
