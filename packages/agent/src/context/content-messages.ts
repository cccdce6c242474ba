import type { LlmAdapter, Message, SessionHandle } from '@orion/contracts';

/** Of content that is longer than the limit a model is shown this much of its beginning … */
const HEAD_BYTES = 16 * 1024;
/** … and this much of its end. */
const TAIL_BYTES = 64 * 1024;
/** A token is taken to be this many bytes. */
const BYTES_PER_TOKEN = 3;

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

/**
 * The history for the next message of a write session: what came before it, the content so far as the
 * assistant's own words, and the prompt. What is left out of long content is told by the user, so that the
 * assistant's words hold nothing that is not in the file.
 */
export async function contentMessages(options: {
  readonly base: readonly Message[];
  readonly handle: Pick<SessionHandle, 'bytes' | 'readContent'>;
  readonly prompt: string | null;
  /** The first words of the reply, which the model goes on with. */
  readonly prefill?: string | null;
  readonly limit: number;
  readonly lines: number;
}): Promise<readonly Message[]> {
  const { base, handle, prompt, limit, lines } = options;
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
      const firstLeftOut = countLines(head) + 1;
      const lastLeftOut = lines - countLines(tail);
      messages.push(
        { role: 'assistant', content: head },
        {
          role: 'user',
          content: `Lines ${firstLeftOut} to ${lastLeftOut} of the file are saved too; they are left out here.`,
        },
        { role: 'assistant', content: tail },
      );
    }
  }
  // Half a character in a quotation would make the request invalid for many a server.
  if (prompt !== null) messages.push({ role: 'user', content: prompt.toWellFormed() });
  const prefill = options.prefill ?? null;
  if (prompt !== null && prefill !== null)
    messages.push({ role: 'assistant', content: prefill.toWellFormed() });
  return messages;
}

async function readText(
  handle: Pick<SessionHandle, 'readContent'>,
  start: number,
  end: number,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of handle.readContent(start, end))
    text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** Up to and with the last line ending; all of it when it has none. */
function toLineEnd(text: string): string {
  const end = text.lastIndexOf('\n');
  return end === -1 ? text : text.slice(0, end + 1);
}

/** From the line after the first line ending; all of it when it has none. */
function fromLineStart(text: string): string {
  const start = text.indexOf('\n');
  return start === -1 || start === text.length - 1 ? text : text.slice(start + 1);
}

function countLines(text: string): number {
  let lines = 0;
  for (let index = text.indexOf('\n'); index !== -1; index = text.indexOf('\n', index + 1))
    lines += 1;
  return lines;
}
