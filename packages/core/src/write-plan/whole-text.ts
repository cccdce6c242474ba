import type {
  ByteSource,
  CommitPart,
  CommitResult,
  PrepareRequest,
  TargetSnapshot,
  WritePlan,
} from '@orion/contracts';

import { validatedText } from '../validation/validated-text.ts';
import {
  ENCODING_CHANGED,
  fittingText,
  JOINED,
  MARK_LEFT_OUT,
  requireTakesText,
  withoutMark,
} from './fitting-text.ts';

/** A change that streams one text into a file: nothing about either has to be known beforehand. */
export type WholeTextChange = {
  readonly request: Omit<PrepareRequest, 'changeId'>;
  /** The size of the text in its last reading. */
  readonly givenBytes: () => number;
  /** The commit's result, completed with what only this change knows about the text. */
  readonly reported: (result: CommitResult) => CommitResult;
  /** Whether a missing ending of the file's last line is added before the text. */
  readonly endsLine: boolean;
};

export type WholeText = {
  readonly operation: 'create' | 'overwrite' | 'append';
  readonly expected: TargetSnapshot;
  readonly source: ByteSource;
  readonly eol: WritePlan['eol'];
  /** For append: adds a missing ending of the file's last line first. */
  readonly startOnNewLine: boolean;
};

/**
 * Creates, overwrites or appends without reading the text in advance: it is validated while it is written, and the
 * commit converts its line endings. Reading rejects with INVALID_CONTENT, VALIDATION_FAILED or TARGET_NOT_UTF8.
 */
export function wholeTextChange(given: WholeText): WholeTextChange {
  return given.operation === 'append' ? appended(given) : written(given);
}

function written({ operation, expected, source, eol }: WholeText): WholeTextChange {
  const text = validatedText(source, expected.path);
  const recoded = expected.encoding !== undefined;
  return {
    request: requestFor({ operation, expected, eol }, [{ kind: 'new', source: text.source }]),
    givenBytes: text.bytes,
    reported: (result) => withWarnings(result, recoded ? [ENCODING_CHANGED] : []),
    endsLine: false,
  };
}

function appended({ expected, source, eol, startOnNewLine }: WholeText): WholeTextChange {
  requireTakesText(expected);
  const text = validatedText(source, expected.path);
  const unmarked = withoutMark(text.source);
  const added = nonEmpty(fittingText(unmarked.source, expected));
  const isOpen = expected.unterminated === true;
  const endsLine = isOpen && startOnNewLine;
  const ending = Buffer.from(expected.eol === 'crlf' ? '\r\n' : '\n');
  return {
    request: requestFor({ operation: 'append', expected, eol }, [
      { kind: 'kept', start: 0, end: expected.bytes },
      { kind: 'new', source: endsLine ? behind(ending, added.source) : added.source },
    ]),
    givenBytes: text.bytes,
    reported: (result) =>
      withWarnings(
        // A line ending before the text does not count as a line of it.
        endsLine && added.any() ? { ...result, lines: result.lines - 1 } : result,
        [
          ...(isOpen && !startOnNewLine && added.any() ? [JOINED] : []),
          ...(unmarked.left() ? [MARK_LEFT_OUT] : []),
        ],
      ),
    endsLine,
  };
}

function requestFor(
  { operation, expected, eol }: Pick<WholeText, 'operation' | 'expected' | 'eol'>,
  parts: readonly CommitPart[],
): WholeTextChange['request'] {
  return { target: expected.path, operation, parts, eol, expected };
}

/** Adds warnings, each only once. */
export function withWarnings(result: CommitResult, warnings: readonly string[]): CommitResult {
  return { ...result, warnings: [...new Set([...result.warnings, ...warnings])] };
}

/** The same bytes; `any` says whether the last reading had at least one. */
function nonEmpty(source: ByteSource): {
  readonly source: ByteSource;
  readonly any: () => boolean;
} {
  let any = false;
  async function* watched(): AsyncGenerator<Uint8Array, void, undefined> {
    any = false;
    for await (const chunk of source()) {
      if (chunk.length === 0) continue;
      any = true;
      yield chunk;
    }
  }
  return { source: watched, any: () => any };
}

/** `first` and then the text; nothing if the text is empty. */
function behind(first: Uint8Array, source: ByteSource): ByteSource {
  return async function* joined(): AsyncGenerator<Uint8Array, void, undefined> {
    let isFirst = true;
    for await (const chunk of source()) {
      if (isFirst) yield first;
      isFirst = false;
      yield chunk;
    }
  };
}
