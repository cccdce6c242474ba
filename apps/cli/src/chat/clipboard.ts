import { formatBytes } from '../terminal/format.ts';
import { sanitize } from '../terminal/sanitize.ts';

/** What terminals take at once: a sequence of 100,000 bytes. */
const MAX_BYTES = 74_994;

/**
 * The sequence that puts a text into the clipboard of the person's terminal (OSC 52), also through a remote shell; or why
 * there is none. Control characters of the text become visible: a terminal could read them when the text is pasted.
 */
export function clipboardSequence(
  text: string,
): { readonly sequence: string } | { readonly refused: string } {
  const bytes = Buffer.from(sanitize(text));
  if (bytes.length > MAX_BYTES) {
    const size = `${formatBytes(bytes.length)}; a terminal takes ${formatBytes(MAX_BYTES)} at most`;
    return { refused: `It has ${size}. /save writes it to a file.` };
  }
  return { sequence: `\u001B]52;c;${bytes.toString('base64')}\u0007` };
}
