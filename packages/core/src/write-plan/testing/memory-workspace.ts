import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';

import { OrionError, encodeWtf8 } from '@orion/contracts';
import type {
  CommitResult,
  PlanCommitOutcome,
  PrepareRequest,
  SessionHandle,
  SessionMetadata,
  Workspace,
  WritingRecord,
} from '@orion/contracts';

import { inChunks, snapshotOf } from './memory-files.ts';

export type MemoryWorkspace = {
  readonly workspace: Workspace;
  readonly files: ReadonlyMap<string, Buffer>;
  /** What sessions were told of their commits, in order. */
  readonly journal: readonly WritingRecord[];
  /** What the plans were to be: without their bytes. */
  readonly asked: readonly object[];
  /** Those that were begun, in order. */
  readonly sessions: readonly SessionHandle[];
};

/** How the commit of a file of a plan ends, other than well. */
export type PlanEnds = Readonly<Record<string, PlanCommitOutcome>>;

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** As much of a workspace as a plan and a session's commit need, in memory; path rules and durability are not here. */
export function createMemoryWorkspace(
  texts: Readonly<Record<string, string | Uint8Array>>,
  ends: PlanEnds = {},
): MemoryWorkspace {
  const files = new Map<string, Buffer>(
    Object.entries(texts).map(([path, text]) => [path, Buffer.from(text as string)]),
  );
  const journal: WritingRecord[] = [];
  const asked: object[] = [];
  const sessions: SessionHandle[] = [];

  async function bytesOf({ parts, expected }: PrepareRequest): Promise<Buffer> {
    const old = files.get(expected.path) ?? Buffer.alloc(0);
    const chunks: Uint8Array[] = [];
    for (const part of parts) {
      if (part.kind === 'kept') chunks.push(old.subarray(part.start, part.end));
      else {
        const own: Uint8Array[] = [];
        for await (const chunk of part.source()) own.push(Buffer.from(chunk));
        if (!isUtf8(Buffer.concat(own))) throw invalidContent();
        chunks.push(...own);
      }
    }
    return Buffer.concat(chunks);
  }

  function resultOf({ expected, operation }: PrepareRequest, bytes: Buffer): CommitResult {
    const now = snapshotOf(expected.path, bytes);
    const lines = bytes.toString('latin1').split('\n').length - (now.unterminated ? 0 : 1);
    return {
      path: expected.path,
      bytes: bytes.length - (operation === 'append' ? expected.bytes : 0),
      lines,
      sha256: hashOf(bytes),
      eol: now.eol,
      bom: now.bom,
      mode: '0644',
      backup_id: `backup of ${expected.path}`,
      ...(expected.exists ? { backup_path: `/backups/${expected.path}` } : {}),
      warnings: [],
      not_kept: [],
    };
  }

  const told = ({ target, operation, parts, eol, reviewed, changeId }: PrepareRequest): object => ({
    target,
    operation,
    parts: parts.map((part) => (part.kind === 'new' ? 'new' : [part.start, part.end])),
    eol,
    reviewed,
    changeId,
  });

  const workspace = {
    maxTargetBytes: 1_000,
    checkTarget: async (target, operation) => {
      const bytes = files.get(target) ?? null;
      if (operation === 'create' && bytes !== null) throw fileExists(target);
      return snapshotOf(target, bytes);
    },
    readTarget: (snapshot) => inChunks(files.get(snapshot.path) ?? Buffer.alloc(0), 7),
    commit: async (request) => {
      asked.push(told(request));
      const bytes = await bytesOf(request);
      const result = resultOf(request, bytes);
      await request.journal({
        temp: '.temporary',
        before: request.expected.sha256,
        after: result.sha256,
        result,
      });
      files.set(request.expected.path, bytes);
      return result;
    },
    commitPlan: async ({ changes, approve, planId, siblingBackups, atomic }) => {
      asked.push({ planId, siblingBackups, atomic, changes: changes.map(told) });
      const prepared: { readonly path: string; readonly bytes: Buffer; result: CommitResult }[] =
        [];
      for (const change of changes) {
        const bytes = await bytesOf(change);
        prepared.push({ path: change.expected.path, bytes, result: resultOf(change, bytes) });
      }
      await approve?.(prepared.map(({ result }) => result));
      return prepared.map(({ path, bytes, result }) => {
        const end = ends[path];
        if (end !== undefined) return end;
        files.set(path, bytes);
        return { kind: 'done', result, ...(siblingBackups ? { sibling: `${path}.bak` } : {}) };
      });
    },
    sessions: {
      begin: async (metadata: SessionMetadata) => {
        const handle = handleOf(metadata, journal);
        sessions.push(handle);
        return handle;
      },
    },
  } satisfies Partial<Omit<Workspace, 'sessions'>> & {
    readonly sessions: Partial<Workspace['sessions']>;
  };
  return { workspace: workspace as unknown as Workspace, files, journal, asked, sessions };
}

function handleOf(metadata: SessionMetadata, journal: WritingRecord[]): SessionHandle {
  let content = Buffer.alloc(0);
  const handle = {
    id: metadata.session_id,
    metadata,
    directory: `/sessions/${metadata.session_id}`,
    contentPath: () => `/sessions/${metadata.session_id}/content.txt`,
    persistence: () => 'disk',
    // Half of a surrogate pair stays what it is, as three bytes that are no UTF-8.
    append: (text) => {
      content = Buffer.concat([content, encodeWtf8(text)]);
    },
    bytes: () => content.length,
    readContent: (start = 0, end = content.length) => inChunks(content.subarray(start, end), 7),
    recordWriting: async (writing) => {
      journal.push(writing);
    },
  } satisfies Partial<SessionHandle>;
  return handle as unknown as SessionHandle;
}

function invalidContent(): OrionError {
  return new OrionError({ code: 'INVALID_CONTENT', message: 'The text is not valid UTF-8.' });
}

function fileExists(path: string): OrionError {
  return new OrionError({ code: 'FILE_EXISTS', message: `${path} exists already.` });
}
