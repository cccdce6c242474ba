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

/** A change that puts one text into a file as it comes: nothing of it or of the file has to be known beforehand. */
export type WholeTextChange = {
  readonly request: Omit<PrepareRequest, 'changeId'>;
  /** Of the text as it was read last. */
  readonly givenBytes: () => number;
  /** What the commit reports and what it cannot know: what became of the text on its way into the file. */
  readonly reported: (result: CommitResult) => CommitResult;
  /** The file's last line gets its ending before the text. */
  readonly endsLine: boolean;
};

export type WholeText = {
  readonly operation: 'create' | 'overwrite' | 'append';
  readonly expected: TargetSnapshot;
  readonly source: ByteSource;
  readonly eol: WritePlan['eol'];
  /** For append: a last line without an ending gets one first. */
  readonly startOnNewLine: boolean;
};

/**
 * Creates, overwrites or appends without reading the text before it is written: it is validated on its way, and the
 * commit gives it the file's line endings. Reading rejects with INVALID_CONTENT, VALIDATION_FAILED or TARGET_NOT_UTF8.
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
        // A line ending before the text is none of its lines.
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

/** Each warning once. */
export function withWarnings(result: CommitResult, warnings: readonly string[]): CommitResult {
  return { ...result, warnings: [...new Set([...result.warnings, ...warnings])] };
}

/** Whether the last reading had any bytes. */
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

/** Nothing stands before nothing. */
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
