import { OrionError } from '@orion/contracts';

import type { CommandContext } from '../process/context.ts';

/** What the person asks: the argument, or all of a piped stdin. Null when there is neither. */
export async function readPrompt(
  context: CommandContext,
  argument: string | null,
  signal: AbortSignal,
): Promise<string | null> {
  if (argument !== null && argument !== '-') return argument.trim() === '' ? null : argument;
  if (argument === null && context.stdin.isTTY === true) return null;
  const text = await readAll(context.stdin, signal);
  return text.trim() === '' ? null : text;
}

async function readAll(stream: NodeJS.ReadStream, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  const stop = (): void => void stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  if (signal.aborted) throw interrupted();
  return text + decoder.decode();
}

export function interrupted(): OrionError {
  return new OrionError({ code: 'ABORTED', message: 'Interrupted.', hint: 'Nothing was begun.' });
}
