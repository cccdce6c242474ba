import type {
  Message,
  SessionHandle,
  SessionMetadata,
  TurnFence,
  TurnRecord,
  Workspace,
  WriteReceipt,
  WritingRecord,
} from '@orion/contracts';
import { BEGIN_TOOL_NAME, countLineFeeds, defined, DONE_MARKER } from '@orion/contracts';
import {
  appendToSummary,
  restartSummary,
  createDoneScan,
  createSummary,
  endDoneScan,
  recoveredReceipt,
  restoreSession,
  scanForDone,
  summaryOfBytes,
} from '@orion/core';
import type { ContentSummary, InnerDone, SessionSettings, WriteSession } from '@orion/core';

import { ContentDecoder } from '../context/content-decoder.ts';
import type { ProviderIdentity } from '../orion.ts';

/** An orphan that now belongs to this process, read back from the disk. */
export type RecoveredSession = {
  readonly handle: SessionHandle;
  readonly session: WriteSession;
  readonly turn: TurnRecord | null;
  readonly notes: readonly string[];
  /** What became of a commit that the dead process had begun. */
  readonly commit:
    | { readonly kind: 'none' }
    | { readonly kind: 'happened'; readonly receipt: WriteReceipt }
    | { readonly kind: 'not_happened' }
    /** Somebody changed the file since; `written`: the one that had the text before that. */
    | { readonly kind: 'overtaken'; readonly written: string | null };
};

/** Claims a session, for the turn of `fence`, and rebuilds what the reducer needs to know of its text. */
export async function recoverSession(
  workspace: Workspace,
  sessionId: string,
  settings: SessionSettings,
  fence?: TurnFence,
): Promise<RecoveredSession> {
  const claimed = await workspace.sessions.claim(sessionId, fence);
  const { handle, record, turn, writing, notes } = claimed;
  try {
    const content = await (handle.metadata.uploaded === true
      ? readUploaded(handle)
      : readSaved(handle, record?.content_start ?? 0));
    const session = restoreSession({ metadata: handle.metadata, settings, record, ...content });
    const commit =
      writing === null ? { kind: 'none' as const } : await settle(handle, session, writing);
    return { handle, session, turn, notes, commit };
  } catch (error) {
    await handle.release();
    throw error;
  }
}

async function readSaved(
  handle: SessionHandle,
  fileStart: number,
): Promise<{ readonly summary: ContentSummary; readonly innerDone: InnerDone }> {
  let summary = createSummary();
  let scan = createDoneScan();
  const readRange = async (start: number, end?: number): Promise<void> => {
    const decoder = new ContentDecoder();
    const read = (text: string): void => {
      summary = appendToSummary(summary, text);
      scan = scanForDone(scan, text);
    };
    for await (const chunk of handle.readContent(start, end)) read(decoder.decode(chunk));
    read(decoder.end());
  };
  if (fileStart > 0) {
    await readRange(0, fileStart);
    summary = restartSummary(summary);
  }
  await readRange(fileStart);
  return { summary, innerDone: endDoneScan(scan) };
}

/** Its lines are counted; what they say means nothing to the session. */
export async function readUploaded(
  handle: Pick<SessionHandle, 'readContent'>,
): Promise<{ readonly summary: ContentSummary; readonly innerDone: InnerDone }> {
  let bytes = 0;
  let lineFeeds = 0;
  let last: Buffer = Buffer.alloc(0);
  for await (const chunk of handle.readContent()) {
    bytes += chunk.length;
    lineFeeds += countLineFeeds(chunk);
    last = Buffer.concat([last, chunk.subarray(-2)]).subarray(-2);
  }
  const end = last.toString('latin1');
  const ending = end === '\r\n' ? end : end.endsWith('\n') ? '\n' : '';
  return {
    summary: summaryOfBytes({ bytes, lineFeeds, ending }),
    innerDone: endDoneScan(createDoneScan()),
  };
}

async function settle(
  handle: SessionHandle,
  session: WriteSession,
  writing: WritingRecord,
): Promise<RecoveredSession['commit']> {
  switch (await handle.resolveWriting(writing)) {
    case 'after':
      return { kind: 'happened', receipt: await receiptOf(handle, session, writing) };
    case 'before':
      return { kind: 'not_happened' };
    case 'changed_after':
      return { kind: 'overtaken', written: writing.result.path };
    case 'changed_instead':
      return { kind: 'overtaken', written: null };
  }
}

async function receiptOf(
  handle: SessionHandle,
  session: WriteSession,
  writing: WritingRecord,
): Promise<WriteReceipt> {
  const { contentStart, contentEnd, summary } = session;
  if (handle.metadata.uploaded === true) return recoveredReceipt(handle, session, writing, summary);
  const file = await summaryOfPart(handle, contentStart, contentEnd ?? summary.bytes);
  return recoveredReceipt(handle, session, writing, file);
}

/** What a part of the saved text is, with the offsets of the whole. */
export async function summaryOfPart(
  handle: Pick<SessionHandle, 'readContent'>,
  start: number,
  end: number,
): Promise<ContentSummary> {
  const decoder = new ContentDecoder();
  let summary = createSummary(start);
  for await (const chunk of handle.readContent(start, end)) {
    summary = appendToSummary(summary, decoder.decode(chunk));
  }
  return appendToSummary(summary, decoder.end());
}

/** Begin's call and its answer, for a process that died before it had written them down. */
function beginMessages(metadata: SessionMetadata, callId: string): readonly Message[] {
  const { intent, target_file, operation } = metadata;
  return [
    {
      role: 'assistant',
      content: '',
      toolCalls: [
        {
          id: callId,
          name: BEGIN_TOOL_NAME,
          arguments: JSON.stringify({ intent, target_file, operation }),
          state: 'complete',
        },
      ],
    },
    {
      role: 'tool',
      toolCallId: callId,
      toolName: BEGIN_TOOL_NAME,
      content: JSON.stringify({ stage: 'awaiting_content', target_file, operation }),
    },
  ];
}

/** The history that a recovered session continues; a short one of its own when `turn.json` is gone. */
export function recoveredHistory(recovered: RecoveredSession): readonly Message[] {
  const { metadata } = recovered.handle;
  const { turn } = recovered;
  const { settings } = recovered.session;
  if (turn !== null) {
    const answered = turn.messages.some(
      (message) => message.role === 'tool' && message.toolCallId === turn.callId,
    );
    return answered ? turn.messages : [...turn.messages, ...beginMessages(metadata, turn.callId)];
  }
  return [
    {
      role: 'system',
      content: `You write one file as plain text and end it with ${settings.strict ? metadata.end_marker : DONE_MARKER} on a line of its own.`,
    },
    { role: 'user', content: `Write ${metadata.target_file}: ${metadata.intent}` },
  ];
}

export function identityOf({ provider, model, baseUrl }: TurnRecord): ProviderIdentity {
  return { provider, model, ...defined({ baseUrl }) };
}
