import { countLineFeeds } from '@orion/contracts';
import type { LlmAdapter, Message, SessionHandle } from '@orion/contracts';

/** Of content that is longer than the limit a model is shown this much of its beginning … */
const HEAD_BYTES = 16 * 1024;
/** … and this much of its end. */
const TAIL_BYTES = 64 * 1024;
/** A token is taken to be this many bytes. */
export const BYTES_PER_TOKEN = 3;

/** The context of a model of which nothing is known. */
const UNKNOWN_CONTEXT_TOKENS = 8192;

/** How much of the content so far is shown whole, in bytes: a quarter of the model's context at most. */
export function contextLimit(
  settings: { readonly contextBytes: number; readonly contextTokens: number | null },
  adapter: Pick<LlmAdapter, 'limits'> | null,
): number {
  const tokens = settings.contextTokens ?? adapter?.limits?.contextTokens ?? UNKNOWN_CONTEXT_TOKENS;
  return Math.min(settings.contextBytes, Math.floor((tokens * BYTES_PER_TOKEN) / 4));
}

/** How much of a conversation is sent, in bytes: what a model of that size reads, with room for its answer. */
export function historyLimit(
  settings: { readonly contextTokens: number | null },
  adapter: Pick<LlmAdapter, 'limits'>,
): number {
  const tokens = settings.contextTokens ?? adapter.limits?.contextTokens ?? null;
  return tokens === null ? Infinity : Math.floor(tokens * BYTES_PER_TOKEN * 0.75);
}

/**
 * The history for the next message of a write session: what came before it, the content so far as the
 * assistant's own words, and the prompt. What is left out of long content is named in a user message, so that the
 * assistant's words hold nothing that is not in the file.
 */
export async function contentMessages(options: {
  readonly base: readonly Message[];
  readonly handle: Pick<SessionHandle, 'bytes' | 'readContent'>;
  readonly prompt: string | null;
  /** The first words of the reply, which the model continues; empty if it begins by itself. */
  readonly prefill?: string;
  readonly limit: number;
  /** Of the content, with an open last one. */
  readonly lines: number;
}): Promise<readonly Message[]> {
  const { base, handle, prompt, prefill = '', limit, lines } = options;
  const messages: Message[] = [...base];
  const bytes = handle.bytes();
  if (bytes > 0) {
    if (bytes <= limit) {
      messages.push({ role: 'assistant', content: await readText(handle, 0, bytes) });
    } else {
      const headBytes = Math.min(HEAD_BYTES, Math.floor(limit / 5));
      const tailBytes = Math.min(TAIL_BYTES, limit - headBytes);
      const head = toLineEnd(await readText(handle, 0, headBytes));
      const tail = fromLineStart(await readText(handle, bytes - tailBytes, bytes));
      messages.push(
        { role: 'assistant', content: head.text },
        { role: 'user', content: leftOutNote(head, tail, lines) },
        { role: 'assistant', content: tail.text },
      );
    }
  }
  // Half a character in a quotation would make the request invalid for many a server.
  if (prompt !== null) {
    messages.push({ role: 'user', content: prompt.toWellFormed() });
    if (prefill !== '') messages.push({ role: 'assistant', content: prefill.toWellFormed() });
  }
  return messages;
}

/** Without the parts of characters that the range cuts off. */
async function readText(
  handle: Pick<SessionHandle, 'bytes' | 'readContent'>,
  start: number,
  end: number,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of handle.readContent(start, end)) chunks.push(Buffer.from(chunk));
  const bytes = Buffer.concat(chunks);
  let from = 0;
  if (start > 0) while (from < MAX_CONTINUATION_BYTES && isContinuation(bytes[from])) from += 1;
  // In stream mode a decoder keeps the beginning of a character to itself.
  const isWhole = end >= handle.bytes();
  return new TextDecoder().decode(bytes.subarray(from), { stream: !isWhole });
}

const MAX_CONTINUATION_BYTES = 3;

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** A part of the content; `isCut`: it ends, or begins, within a line. */
type Shown = { readonly text: string; readonly isCut: boolean };

/** Up to and with the last line ending; all of it when it has none. */
function toLineEnd(text: string): Shown {
  const end = text.lastIndexOf('\n');
  return end === -1 ? { text, isCut: true } : { text: text.slice(0, end + 1), isCut: false };
}

/** From the line after the first line ending; all of it when it has none. */
function fromLineStart(text: string): Shown {
  const start = text.indexOf('\n');
  return start === -1 || start === text.length - 1
    ? { text, isCut: true }
    : { text: text.slice(start + 1), isCut: false };
}

/** Names the lines between the two, of a file with this many lines, including an open last one. */
function leftOutNote(head: Shown, tail: Shown, lines: number): string {
  const headLine = countLineFeeds(head.text) + 1;
  const tailLine = lines - countLineFeeds(tail.text) + (tail.text.endsWith('\n') ? 1 : 0);
  if (head.isCut && tail.isCut && headLine === tailLine) {
    return `A part of line ${headLine} of the file is saved too; it is left out here.`;
  }
  const first = head.isCut ? headLine + 1 : headLine;
  const last = tailLine - 1;
  const between =
    first === last ? [`line ${first}`] : first < last ? [`lines ${first} to ${last}`] : [];
  const parts = [
    ...(head.isCut ? [`the rest of line ${headLine}`] : []),
    ...between,
    ...(tail.isCut ? [`the beginning of line ${tailLine}`] : []),
  ];
  const named = [parts.slice(0, -1).join(', '), ...parts.slice(-1)].filter(Boolean).join(' and ');
  const start = `${named.charAt(0).toUpperCase()}${named.slice(1)}`;
  return parts.length > 1 || first < last
    ? `${start} of the file are saved too; they are left out here.`
    : `${start} of the file is saved too; it is left out here.`;
}
