/** What the JSON files of a session directory hold. Reading never throws: anything may lie there. */
import {
  WRITE_OPERATIONS,
  isCount,
  isFields,
  isSessionQuestion,
  isTextOrNull,
  parseFields,
} from '@orion/contracts';
import type { Fields } from '@orion/contracts';
import type {
  CommitResult,
  ForeignEncoding,
  LineEnding,
  SessionMetadata,
  SessionRecord,
  SessionStateName,
  TargetSnapshot,
  TurnRecord,
  WritingRecord,
} from '@orion/contracts';

export const MAX_JSON_BYTES: number = 8 * 1024 * 1024;
/** Messages of a whole conversation. */
export const MAX_TURN_BYTES: number = 64 * 1024 * 1024;

const CONTENT_NAME = /^content(?:\.([1-9]\d{0,5}))?\.txt$/u;

/** `content.txt` is the first, `content.2.txt` the one after a failed fsync. Null for other names. */
export function contentNumber(name: string): number | null {
  const match = CONTENT_NAME.exec(name);
  if (match === null) return null;
  return match[1] === undefined ? 1 : Number(match[1]);
}

export function numberedName(stem: string, number: number): string {
  return number === 1 ? `${stem}.txt` : `${stem}.${number}.txt`;
}

export type Parsed<T> =
  | { readonly kind: 'good'; readonly value: T }
  | { readonly kind: 'invalid' }
  /** Written by a newer Orion: not ours to mend. */
  | { readonly kind: 'newer' };

function versionProblem(fields: Fields | null): Parsed<never> | null {
  if (fields === null) return { kind: 'invalid' };
  const version = fields['version'];
  if (version === 1) return null;
  return typeof version === 'number' && version > 1 ? { kind: 'newer' } : { kind: 'invalid' };
}

export function parseMetadata(text: string, sessionId: string): Parsed<SessionMetadata> {
  const fields = parseFields(text);
  const problem = versionProblem(fields);
  if (fields === null || problem !== null) return problem ?? { kind: 'invalid' };
  return isMetadata(fields) && fields.session_id === sessionId
    ? { kind: 'good', value: withoutMarks(fields) }
    : { kind: 'invalid' };
}

/** Without whose session it is: its user's MAC, and its workspace. */
function withoutMarks(
  metadata: SessionMetadata & { readonly mac?: unknown; readonly root?: unknown },
): SessionMetadata {
  const { mac: _mac, root: _root, ...rest } = metadata;
  return rest;
}

/** The root of the session's workspace, relative to the state directory; undefined when it does not say. */
export function rootOf(metadataText: string): string | undefined {
  const root = parseFields(metadataText)?.['root'];
  return typeof root === 'string' ? root : undefined;
}

function isMetadata(fields: Fields): fields is Fields & SessionMetadata {
  return (
    typeof fields['session_id'] === 'string' &&
    typeof fields['intent'] === 'string' &&
    typeof fields['target_file'] === 'string' &&
    WRITE_OPERATIONS.some((operation) => operation === fields['operation']) &&
    typeof fields['created_at'] === 'string' &&
    !Number.isNaN(Date.parse(fields['created_at'])) &&
    typeof fields['end_marker'] === 'string' &&
    typeof fields['final_newline'] === 'boolean' &&
    isFlag(fields['start_on_new_line']) &&
    isFlag(fields['keep_leading_blank_lines']) &&
    isSnapshot(fields['target']) &&
    isLocationOf(fields['operation'], fields['location'])
  );
}

/** An edit without its place could not be finished. */
function isLocationOf(operation: unknown, location: unknown): boolean {
  if (operation !== 'insert' && operation !== 'replace') return location === undefined;
  if (!isFields(location)) return false;
  const {
    marker,
    marker_type: type,
    position,
    start_marker,
    end_marker,
    include_markers,
  } = location;
  if (type !== 'string' && type !== 'regex') return false;
  return operation === 'insert'
    ? typeof marker === 'string' && (position === 'before' || position === 'after')
    : typeof start_marker === 'string' &&
        typeof end_marker === 'string' &&
        typeof include_markers === 'boolean';
}

function isSnapshot(value: unknown): value is TargetSnapshot {
  return (
    isFields(value) &&
    typeof value['path'] === 'string' &&
    typeof value['realPath'] === 'string' &&
    typeof value['exists'] === 'boolean' &&
    isTextOrNull(value['sha256']) &&
    isCount(value['bytes']) &&
    isCount(value['mode']) &&
    isLineEnding(value['eol']) &&
    typeof value['bom'] === 'boolean' &&
    (value['encoding'] === undefined || isEncoding(value['encoding'])) &&
    isFlag(value['unterminated']) &&
    isFlag(value['beginsBlank']) &&
    (value['allowed'] === undefined || isAllowed(value['allowed']))
  );
}

/** What is not so is left out. */
function isFlag(value: unknown): boolean {
  return value === undefined || value === true;
}

const ENCODINGS: Readonly<Record<ForeignEncoding, true>> = {
  'utf-16le': true,
  'utf-16be': true,
  'utf-32le': true,
  'utf-32be': true,
  binary: true,
  '8-bit': true,
};

function isEncoding(value: unknown): boolean {
  return typeof value === 'string' && Object.hasOwn(ENCODINGS, value);
}

function isAllowed(value: unknown): boolean {
  return isFields(value) && isTexts(value['paths']) && typeof value['hardLink'] === 'boolean';
}

/** `state.json`: the reducer's record, and what the store knows of the content it covers. */
export type SavedState = {
  /** Null before the first save, and when that part cannot be read; `recordIsDamaged` tells which. */
  readonly record: SessionRecord | null;
  readonly bufferSize: number;
  readonly lineCount: number;
  readonly lastSave: string;
  readonly contentFile: string;
  readonly writing: WritingRecord | null;
  readonly recordIsDamaged: boolean;
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
  })}\n`;
}

export function parseState(text: string): Parsed<SavedState> {
  const fields = parseFields(text);
  const problem = versionProblem(fields);
  if (fields === null || problem !== null) return problem ?? { kind: 'invalid' };
  const { buffer_size, line_count, last_save, content_file, writing, question, ...others } = fields;
  // Earlier versions stored a question with the keys that it has in memory.
  const rest =
    question === undefined ? others : { ...others, question: withKeys(question, camelCase) };
  if (!isCount(buffer_size) || !isCount(line_count)) return { kind: 'invalid' };
  if (typeof last_save !== 'string' || Number.isNaN(Date.parse(last_save))) {
    return { kind: 'invalid' };
  }
  if (typeof content_file !== 'string' || contentNumber(content_file) === null) {
    return { kind: 'invalid' };
  }
  if (writing !== undefined && !isWriting(writing)) return { kind: 'invalid' };
  const record = isRecord(rest) ? rest : null;
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

const STATES: Readonly<Record<SessionStateName, true>> = {
  idle: true,
  'session_active.awaiting_content': true,
  'session_active.awaiting_done_or_more_content': true,
  'session_active.awaiting_answer': true,
  'session_active.finalizing': true,
  'session_active.needs_corrections': true,
  'session_active.paused': true,
  done: true,
  aborted: true,
};

const OPTIONAL_FLAGS = [
  'lead_asked',
  'lead_dropped',
  'cut_off',
  'ended_by_done',
  'started_over',
  'has_ended',
  'omissions_asked',
] as const satisfies readonly (keyof SessionRecord)[];

function isRecord(fields: Fields): fields is Fields & SessionRecord {
  const { state, question, content_start, content_end, inner_done_lines, seams, code } = fields;
  return (
    typeof state === 'string' &&
    Object.hasOwn(STATES, state) &&
    (question === undefined || isSessionQuestion(question)) &&
    (content_start === undefined || isCount(content_start)) &&
    (content_end === undefined || isCount(content_end)) &&
    typeof fields['fence_stripped'] === 'boolean' &&
    typeof fields['fence_asked'] === 'boolean' &&
    OPTIONAL_FLAGS.every(
      (name) => fields[name] === undefined || typeof fields[name] === 'boolean',
    ) &&
    (fields['repair'] === undefined || isRepair(fields['repair'])) &&
    Array.isArray(inner_done_lines) &&
    inner_done_lines.every(isCount) &&
    (fields['ends_settled'] === undefined || isCount(fields['ends_settled'])) &&
    (fields['thinking'] === undefined ||
      fields['thinking'] === 'set_aside' ||
      fields['thinking'] === 'kept') &&
    (fields['leading_blank_lines_dropped'] === undefined ||
      isCount(fields['leading_blank_lines_dropped'])) &&
    Array.isArray(seams) &&
    seams.every(isSeam) &&
    isCount(fields['idle_prompts']) &&
    (code === undefined || typeof code === 'string')
  );
}

function isRepair(value: unknown): boolean {
  return (
    isFields(value) &&
    isCount(value['found']) &&
    typeof value['replace'] === 'boolean' &&
    Array.isArray(value['rounds']) &&
    value['rounds'].every((round: unknown) => Array.isArray(round) && areCorrections(round))
  );
}

/** In order, and none within another. */
function areCorrections(round: readonly unknown[]): boolean {
  let end = 0;
  return round.every((value) => {
    if (!isFields(value) || !isCount(value['start']) || !isCount(value['end'])) return false;
    if (typeof value['text'] !== 'string' || value['start'] < end) return false;
    if (value['end'] <= value['start']) return false;
    end = value['end'];
    return true;
  });
}

function isSeam(value: unknown): boolean {
  return (
    isFields(value) &&
    isCount(value['line']) &&
    typeof value['status'] === 'string' &&
    typeof value['via'] === 'string' &&
    isCount(value['lines_dropped']) &&
    isCount(value['text_set_aside']) &&
    typeof value['conversion'] === 'string'
  );
}

function isWriting(value: unknown): value is WritingRecord {
  return (
    isFields(value) &&
    typeof value['temp'] === 'string' &&
    (value['target'] === undefined || typeof value['target'] === 'string') &&
    isTextOrNull(value['before']) &&
    typeof value['after'] === 'string' &&
    (value['stands'] === undefined || value['stands'] === true) &&
    (value['lines_before'] === undefined || isCount(value['lines_before'])) &&
    isCommitResult(value['result'])
  );
}

function isCommitResult(value: unknown): value is CommitResult {
  return (
    isFields(value) &&
    ['path', 'sha256', 'mode'].every((name) => typeof value[name] === 'string') &&
    isCount(value['bytes']) &&
    isCount(value['lines']) &&
    isLineEnding(value['eol']) &&
    typeof value['bom'] === 'boolean' &&
    isOptionalText(value['backup_id']) &&
    isOptionalText(value['backup_path']) &&
    isTexts(value['warnings']) &&
    isTexts(value['not_kept'])
  );
}

function isLineEnding(value: unknown): value is LineEnding {
  return ['lf', 'crlf', 'mixed', 'none'].some((name) => name === value);
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Null when it cannot be used: a recovery then needs its settings from elsewhere. */
export function parseTurn(text: string): TurnRecord | null {
  const fields = parseFields(text);
  return fields !== null && isTurn(fields) ? fields : null;
}

const TURN_TEXTS: readonly string[] = [
  'requestId',
  'projectId',
  'conversationId',
  'provider',
  'model',
  'protocol',
  'callId',
];

function isTurn(fields: Fields): fields is Fields & TurnRecord {
  return (
    fields['version'] === 1 &&
    TURN_TEXTS.every((name) => typeof fields[name] === 'string') &&
    (fields['mode'] === 'plan' || fields['mode'] === 'act') &&
    (fields['baseUrl'] === undefined || typeof fields['baseUrl'] === 'string') &&
    Array.isArray(fields['messages']) &&
    fields['messages'].every(
      (message) => isFields(message) && typeof message['role'] === 'string',
    ) &&
    isFields(fields['options'])
  );
}
