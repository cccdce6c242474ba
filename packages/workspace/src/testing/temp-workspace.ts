import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  ByteSource,
  CommitPart,
  CommitRequest,
  SessionHandle,
  SessionMetadata,
  TargetSnapshot,
  TurnRecord,
  Workspace,
  WriteOperation,
  WritingRecord,
} from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import type { FakeClock } from '@orion/testkit';
import { SESSION_RECORD as RECORD } from '@orion/testkit/records';
import { onTestFinished } from 'vitest';
import { createWorkspace } from '../index.ts';
import type { WorkspaceOptions } from '../index.ts';

export { SESSION_RECORD as RECORD, TURN_RECORD as TURN } from '@orion/testkit/records';

export type TestEvent = { readonly type: string; readonly details: Record<string, unknown> };

export type TestWorkspace = {
  readonly root: string;
  readonly clock: FakeClock;
  readonly workspace: Workspace;
  readonly events: TestEvent[];
  /** Another workspace object on the same directory. */
  readonly again: (options?: Partial<WorkspaceOptions>) => Promise<Workspace>;
};

/** A real directory that goes when the test ends. */
export async function temporaryDirectory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'orion-workspace-')));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** The wall clock starts at the real time, since files have real times too. */
export async function openTestWorkspace(
  options: Partial<WorkspaceOptions> = {},
): Promise<TestWorkspace> {
  const root = options.root ?? (await temporaryDirectory());
  const clock = createFakeClock(Date.now());
  const events: TestEvent[] = [];
  const open = async (more: Partial<WorkspaceOptions> = {}): Promise<Workspace> => {
    const opened = await createWorkspace({
      clock,
      onEvent: (type, details) => events.push({ type, details: { ...details } }),
      ...options,
      ...more,
      root,
    });
    onTestFinished(() => opened.close());
    return opened;
  };
  const workspace = await open();
  return { root, clock, workspace, events, again: open };
}

export async function metadataFor(
  workspace: Workspace,
  target: string,
  operation: WriteOperation = 'create',
): Promise<SessionMetadata> {
  const sessionId = randomUUID();
  return {
    version: 1,
    session_id: sessionId,
    intent: 'a test',
    target_file: target,
    operation,
    created_at: new Date().toISOString(),
    end_marker: `DONE ${sessionId.slice(0, 4)}`,
    final_newline: true,
    target: await workspace.checkTarget(target, operation),
  };
}

export async function beginSession(
  workspace: Workspace,
  target: string = 'a.txt',
  turn?: TurnRecord,
  operation?: WriteOperation,
): Promise<SessionHandle> {
  return await workspace.sessions.begin(await metadataFor(workspace, target, operation), turn);
}

/** A session whose owner has saved it and gone. */
export async function releasedSession(
  workspace: Workspace,
  target: string = 'a.txt',
  text: string = 'text\n',
): Promise<SessionHandle> {
  const handle = await beginSession(workspace, target);
  handle.append(text);
  await handle.save(RECORD);
  await handle.release();
  return handle;
}

export function sourceOf(...pieces: readonly (string | Uint8Array)[]): ByteSource {
  return async function* () {
    for (const piece of pieces) yield Buffer.from(piece);
  };
}

export function partsOf(
  operation: WriteOperation,
  expected: TargetSnapshot,
  source: ByteSource,
): readonly CommitPart[] {
  const added: CommitPart = { kind: 'new', source };
  return operation === 'append'
    ? [{ kind: 'kept', start: 0, end: expected.bytes }, added]
    : [added];
}

export function commitRequest(
  operation: WriteOperation,
  expected: TargetSnapshot,
  ...pieces: readonly string[]
): CommitRequest {
  return {
    target: expected.path,
    operation,
    parts: partsOf(operation, expected, sourceOf(...pieces)),
    eol: 'match',
    expected,
    journal: async () => undefined,
  };
}

export function sha256(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

export async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

export async function bytesOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function jsonAt(path: string): Promise<Record<string, unknown>> {
  const value: unknown = JSON.parse(await readFile(path, 'utf8'));
  return Object.fromEntries(Object.entries(value ?? {}));
}

/** Waits for work that real files do in the background. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what: string = 'the condition',
): Promise<void> {
  for (let round = 0; round < 2_000; round += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`${what} did not come true`);
}

/** The code an `OrionError` rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
  return 'no error';
}

/** A commit as a session journals it. */
export function writingRecord(after: string, temp: string = 'none.tmp'): WritingRecord {
  return {
    temp,
    before: null,
    after,
    result: {
      path: 'a.txt',
      bytes: 1,
      lines: 1,
      sha256: after,
      eol: 'none',
      bom: false,
      mode: '0644',
      warnings: [],
      not_kept: [],
    },
  };
}

/** Text for a snapshot: what differs from run to run has the name of its kind. */
export function steady(text: string): string {
  return text
    .replaceAll(/\b\d{8}T\d{9}Z-(?:[0-9a-f]{8}){1,2}\b/g, '<backup>')
    .replaceAll(/\.[0-9a-f]{12}\.tmp/g, '.<hex>.tmp')
    .replaceAll(/\b[0-9a-f]{32,64}\b/g, '<hash>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>');
}
