/** The JSON files of a session directory. Parsing never throws, because the files can contain anything. */
import { join } from 'node:path';
import {
  WRITE_OPERATIONS,
  defined,
  isCount,
  isFields,
  isSessionQuestion,
  isTextOrNull,
  parseFields,
} from '@orion/contracts';
import type { Fields } from '@orion/contracts';
import type {
  AllowedTarget,
  CommitResult,
  ForeignEncoding,
  InsertLocation,
  LineEnding,
  ReplaceLocation,
  Seam,
  SessionMetadata,
  SessionRecord,
  SessionStateName,
  SessionTextName,
  TargetSnapshot,
  TextCorrection,
  TextRepair,
  TurnRecord,
  WritingRecord,
} from '@orion/contracts';
import { readSmallFile } from '../disk/files.ts';
import type { SmallFile } from '../disk/files.ts';
import {
  each,
  hasShape,
  isBoolean,
  isText,
  isTime,
  keyOf,
  listOf,
  oneOf,
  optional,
  shaped,
} from '../shape.ts';
import type { Shape } from '../shape.ts';

export const MAX_JSON_BYTES: number = 8 * 1024 * 1024;
/** Holds the messages of a whole conversation. */
const MAX_TURN_BYTES = 64 * 1024 * 1024;

const TEXT_NAME = /^(content|trailing|pending)(?:\.([1-9]\d{0,5}))?\.txt$/u;

/** `content.txt` is the first, `content.2.txt` the one after a failed fsync. Null for other names. */
export function textNumber(stem: SessionTextName, name: string): number | null {
  const match = TEXT_NAME.exec(name);
  if (match === null || match[1] !== stem) return null;
  return match[2] === undefined ? 1 : Number(match[2]);
}

export function numberedName(stem: string, number: number): string {
  return number === 1 ? `${stem}.txt` : `${stem}.${number}.txt`;
}

export type Parsed<T> =
  | { readonly kind: 'good'; readonly value: T }
  | { readonly kind: 'invalid' }
  /** Written by a newer version: not ours to repair. */
  | { readonly kind: 'newer' };

/** The result for a file that may be missing or unreadable. */
export type ReadFile<T> = Parsed<T> | Exclude<SmallFile, { readonly kind: 'text' }>;

function parseVersioned<T extends object>(text: string, shape: Shape<T>): Parsed<Fields & T> {
  const fields = parseFields(text);
  const version = fields?.['version'];
  if (typeof version === 'number' && version > 1) return { kind: 'newer' };
  const isGood = version === 1 && hasShape(fields, shape);
  return isGood ? { kind: 'good', value: fields } : { kind: 'invalid' };
}

export function parseMetadata(text: string, sessionId: string): Parsed<SessionMetadata> {
  const parsed = parseVersioned(text, METADATA);
  if (parsed.kind !== 'good') return parsed;
  // Without the marks of its owner: the user's MAC and the workspace.
  const { mac: _mac, root: _root, ...metadata } = parsed.value;
  const isMeant = metadata.session_id === sessionId;
  return isMeant && isLocationOf(metadata.operation, metadata.location)
    ? { kind: 'good', value: metadata }
    : { kind: 'invalid' };
}

/** The root of the session's workspace, relative to the state directory; undefined if not recorded. */
export function rootOf(metadataText: string): string | undefined {
  const root = parseFields(metadataText)?.['root'];
  return typeof root === 'string' ? root : undefined;
}

const isLineEnding = keyOf<LineEnding>({ lf: true, crlf: true, mixed: true, none: true });
/** The field is either true or missing. */
const isFlag = optional(oneOf(true));
const isOptionalText = optional(isText);
const isOptionalCount = optional(isCount);

const isEncoding = keyOf<ForeignEncoding>({
  'utf-16le': true,
  'utf-16be': true,
  'utf-32le': true,
  'utf-32be': true,
  binary: true,
  '8-bit': true,
});

const SNAPSHOT: Shape<TargetSnapshot> = {
  ...each(isText, 'path', 'realPath'),
  ...each(isBoolean, 'exists', 'bom'),
  ...each(isCount, 'bytes', 'mode'),
  sha256: isTextOrNull,
  eol: isLineEnding,
  encoding: optional(isEncoding),
  ...each(isFlag, 'unterminated', 'beginsBlank'),
  allowed: optional(shaped<AllowedTarget>({ paths: listOf(isText), hardLink: isBoolean })),
};

const METADATA: Shape<SessionMetadata> = {
  version: oneOf(1),
  ...each(isText, 'session_id', 'intent', 'target_file', 'end_marker'),
  operation: oneOf(...WRITE_OPERATIONS),
  location: () => true,
  created_at: isTime,
  final_newline: isBoolean,
  ...each(isFlag, 'start_on_new_line', 'keep_leading_blank_lines', 'uploaded'),
  target: shaped(SNAPSHOT),
};

const INSERT_LOCATION: Shape<InsertLocation> = {
  marker: isText,
  marker_type: oneOf('string', 'regex'),
  position: oneOf('before', 'after'),
};
const REPLACE_LOCATION: Shape<ReplaceLocation> = {
  start_marker: isText,
  end_marker: isText,
  marker_type: oneOf('string', 'regex'),
  include_markers: isBoolean,
};

/** An edit could not be completed without its location. */
function isLocationOf(operation: string, location: unknown): boolean {
  if (operation === 'insert') return hasShape(location, INSERT_LOCATION);
  if (operation === 'replace') return hasShape(location, REPLACE_LOCATION);
  return location === undefined;
}

/** `state.json`: the record of the reducer, and the store's data about the content that it covers. */
export type SavedState = {
  /** Null before the first save and when this part is unreadable; see `recordIsDamaged`. */
  readonly record: SessionRecord | null;
  readonly bufferSize: number;
  readonly lineCount: number;
  readonly lastSave: string;
  readonly contentFile: string;
  readonly writing: WritingRecord | null;
  /** When a process took it over from another one, or an earlier turn; the last time. */
  readonly recoveredAt?: string;
  readonly recordIsDamaged: boolean;
};

/** The content that a `state.json` covers. */
export type StoredContent = {
  readonly bytes: number;
  readonly lineFeeds: number;
  readonly file: string;
};

export function formatState(state: Omit<SavedState, 'recordIsDamaged'>): string {
  const { question, ...record } = state.record ?? {};
  return `${JSON.stringify({
    version: 1,
    ...record,
    ...(question === undefined ? {} : { question: withKeys(question, snakeCase) }),
    buffer_size: state.bufferSize,
    line_count: state.lineCount,
    last_save: state.lastSave,
    content_file: state.contentFile,
    ...(state.writing === null ? {} : { writing: state.writing }),
    ...defined({ recovered_at: state.recoveredAt }),
  })}\n`;
}

export function parseState(text: string): Parsed<SavedState> {
  const parsed = parseVersioned(text, STATE);
  if (parsed.kind !== 'good') return parsed;
  const { value } = parsed;
  const { buffer_size, line_count, last_save, content_file, writing, recovered_at, ...kept } =
    value;
  const { question, ...others } = kept;
  // Earlier versions stored a question with the keys that it has in memory.
  const rest =
    question === undefined ? others : { ...others, question: withKeys(question, camelCase) };
  const record = hasShape(rest, RECORD) ? rest : null;
  return {
    kind: 'good',
    value: {
      record,
      recordIsDamaged: record === null && Object.keys(rest).some((name) => name !== 'version'),
      bufferSize: buffer_size,
      lineCount: line_count,
      lastSave: last_save,
      contentFile: content_file,
      writing: writing ?? null,
      ...defined({ recoveredAt: recovered_at }),
    },
  };
}

/** A value with other keys, down to those of the items of a question's lists. */
function withKeys(value: unknown, rename: (key: string) => string, levels: number = 3): unknown {
  if (levels === 0) return value;
  if (Array.isArray(value)) return value.map((item) => withKeys(item, rename, levels - 1));
  if (!isFields(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, inner]) => [rename(key), withKeys(inner, rename, levels - 1)]),
  );
}

function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camelCase(key: string): string {
  return key.replaceAll(/_[a-z]/g, (pair) => pair.slice(1).toUpperCase());
}

const RESULT: Shape<CommitResult> = {
  ...each(isText, 'path', 'sha256', 'mode'),
  ...each(isCount, 'bytes', 'lines'),
  eol: isLineEnding,
  bom: isBoolean,
  ...each(isOptionalText, 'backup_id', 'backup_path'),
  ...each(listOf(isText), 'warnings', 'not_kept'),
};

const WRITING: Shape<WritingRecord> = {
  temp: isText,
  target: isOptionalText,
  before: isTextOrNull,
  after: isText,
  stands: isFlag,
  lines_before: isOptionalCount,
  result: shaped(RESULT),
};

/** Null if it is none. */
export function parseWriting(text: string): WritingRecord | null {
  const fields = parseFields(text);
  return hasShape(fields, WRITING) ? fields : null;
}

/** The store's own fields of `state.json`. */
type StoredState = {
  readonly buffer_size: number;
  readonly line_count: number;
  readonly last_save: string;
  readonly content_file: string;
  readonly writing?: WritingRecord;
  readonly recovered_at?: string;
};

/** Of a session's directory. */
export async function readState(directory: string): Promise<ReadFile<SavedState>> {
  const file = await readSmallFile(join(directory, 'state.json'), MAX_JSON_BYTES);
  return file.kind === 'text' ? parseState(file.text) : file;
}

const STATE: Shape<StoredState> = {
  buffer_size: isCount,
  line_count: isCount,
  last_save: isTime,
  content_file: (value) => typeof value === 'string' && textNumber('content', value) !== null,
  writing: optional(shaped(WRITING)),
  recovered_at: optional(isTime),
};

const isState = keyOf<SessionStateName>({
  idle: true,
  'session_active.awaiting_content': true,
  'session_active.awaiting_done_or_more_content': true,
  'session_active.awaiting_answer': true,
  'session_active.finalizing': true,
  'session_active.needs_corrections': true,
  'session_active.paused': true,
  done: true,
  aborted: true,
});

const SEAM: Shape<Seam> = {
  ...each(isCount, 'line', 'lines_dropped', 'text_set_aside'),
  ...each(isText, 'status', 'via', 'conversion'),
};

const CORRECTION: Shape<TextCorrection> = { start: isCount, end: isCount, text: isText };

const REPAIR: Shape<TextRepair> = {
  found: isCount,
  rounds: listOf((round) => Array.isArray(round) && areCorrections(round)),
  replace: isBoolean,
};

/** In order and without overlap. */
function areCorrections(round: readonly unknown[]): boolean {
  let end = 0;
  return round.every((value) => {
    if (!hasShape(value, CORRECTION) || value.start < end || value.end <= value.start) return false;
    end = value.end;
    return true;
  });
}

const RECORD: Shape<SessionRecord> = {
  version: oneOf(1),
  state: isState,
  question: optional(isSessionQuestion),
  ...each(isOptionalCount, 'content_start', 'content_end'),
  ...each(isOptionalCount, 'ends_settled', 'leading_blank_lines_dropped'),
  ...each(isBoolean, 'fence_stripped', 'fence_asked'),
  ...each(optional(isBoolean), 'lead_asked', 'lead_dropped', 'cut_off', 'ended_by_done'),
  ...each(optional(isBoolean), 'started_over', 'omissions_asked', 'has_ended'),
  repair: optional(shaped(REPAIR)),
  inner_done_lines: listOf(isCount),
  thinking: optional(oneOf('set_aside', 'kept')),
  seams: listOf(shaped(SEAM)),
  idle_prompts: isCount,
  code: isOptionalText,
};

/** Of a session's directory. */
export async function readTurn(directory: string): Promise<TurnRecord | null> {
  const file = await readSmallFile(join(directory, 'turn.json'), MAX_TURN_BYTES);
  return file.kind === 'text' ? parseTurn(file.text) : null;
}

/** Null if unusable. A recovery then needs its settings from elsewhere. */
export function parseTurn(text: string): TurnRecord | null {
  const fields = parseFields(text);
  return hasShape(fields, TURN) ? fields : null;
}

const TURN: Shape<TurnRecord> = {
  version: oneOf(1),
  ...each(isText, 'requestId', 'projectId', 'conversationId', 'callId'),
  ...each(isText, 'provider', 'model', 'protocol'),
  baseUrl: isOptionalText,
  mode: oneOf('plan', 'act'),
  messages: listOf((message) => isFields(message) && typeof message['role'] === 'string'),
  options: (value) => isFields(value),
};
