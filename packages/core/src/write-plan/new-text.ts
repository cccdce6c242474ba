/**
 * Checks and measures the text of an operation, and converts its line endings to those of the file.
 *
 * N1. Only valid text passes, and the verdict does not depend on how the bytes are divided.
 * N2. Only bare line feeds are converted, and only for a file whose lines all end in CRLF.
 */
import {
  BYTE_ORDER_MARK,
  CrlfConverter,
  encodeWtf8,
  OrionError,
  TextTally,
} from '@orion/contracts';
import type { ByteSource, LineEnding, PlanContent } from '@orion/contracts';

import { findInvalidPlaces, MAX_LISTED_PLACES } from '../validation/invalid-places.ts';
import { validatedText } from '../validation/validated-text.ts';
import { textOf } from './file-image.ts';
import { withoutMark } from './fitting-text.ts';
import type { NewText } from './file-image.ts';

export const byteOrderMark: NewText = textOf(BYTE_ORDER_MARK);

export type CheckedText = NewText & {
  readonly lineFeeds: number;
  readonly eol: LineEnding;
  readonly bareLineFeeds: number;
  /** Bytes of the line ending that it ends with: 0, 1 or 2. */
  readonly finalLineEnding: number;
  readonly bom: boolean;
};

/**
 * Rejects with INVALID_CONTENT, naming the first invalid places, and with VALIDATION_FAILED when the text cannot be
 * read.
 */
export async function checkNewText(content: PlanContent, target: string): Promise<CheckedText> {
  const source = sourceOf(content);
  const text = validatedText(source, target);
  const tally = new TextTally();
  try {
    for await (const chunk of text.source()) tally.add(chunk);
  } catch (error) {
    if (!OrionError.isInstance(error) || error.code !== 'INVALID_CONTENT') throw error;
    throw await invalidText(source, target, error);
  }
  // Every reading validates again: the saved text may have changed on disk.
  return {
    source: text.source,
    bytes: text.bytes(),
    lineFeeds: tally.lineFeeds,
    bareLineFeeds: tally.lineFeeds - tally.crlf,
    eol: tally.eol(),
    finalLineEnding: tally.finalLineEnding(),
    bom: tally.bom(),
  };
}

/** The number of lines, including a last one without an ending. */
export function lineCount(text: CheckedText): number {
  return text.lineFeeds + (text.bytes > 0 && text.finalLineEnding === 0 ? 1 : 0);
}

/** The text without its leading byte order mark. */
export function withoutFirstMark(text: CheckedText): CheckedText {
  if (!text.bom) return text;
  return {
    ...text,
    source: withoutMark(text.source).source,
    bytes: text.bytes - BYTE_ORDER_MARK.length,
    bom: false,
  };
}

/** The text with a CRLF in place of each bare line feed. */
export function withCrlf(text: CheckedText): CheckedText {
  if (text.bareLineFeeds === 0) return text;
  return {
    ...text,
    source: () => convertToCrlf(text.source()),
    bytes: text.bytes + text.bareLineFeeds,
    bareLineFeeds: 0,
    eol: 'crlf',
    finalLineEnding: text.finalLineEnding === 0 ? 0 : 2,
  };
}

async function* convertToCrlf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const converter = new CrlfConverter();
  for await (const chunk of chunks) if (chunk.length > 0) yield converter.push(chunk);
}

export function sourceOf(content: PlanContent): ByteSource {
  return content.kind === 'bytes' ? content.source : textOf(encodeWtf8(content.text)).source;
}

async function invalidText(
  source: ByteSource,
  target: string,
  cause: OrionError,
): Promise<OrionError> {
  const { places, count } = await findInvalidPlaces(source, MAX_LISTED_PLACES);
  const [first] = places;
  // Another program has changed it since.
  if (first === undefined) return cause;
  const others = count === 1 ? '' : ` and ${count - 1} more`;
  return new OrionError({
    code: 'INVALID_CONTENT',
    message: `The text for ${target} is no valid text at line ${first.line}, column ${first.column} (byte ${first.byte_offset})${others}; nothing was written.`,
    details: { byte_offset: first.byte_offset, invalid_count: count, invalid_contexts: places },
    cause,
  });
}
