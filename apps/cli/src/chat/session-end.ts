import { StringDecoder } from 'node:string_decoder';

import { plural } from '../terminal/format.ts';
import type { ChatTools } from './tools.ts';

/** Of a text that is shown to see where it stops. */
const SHOWN_LINES = 20;
const SHOWN_BYTES = 16 * 1024;

/** Shows the last lines of what a session has saved. */
export async function showEnd(tools: ChatTools, sessionId: string): Promise<void> {
  let kept: Uint8Array = new Uint8Array();
  let bytes = 0;
  for await (const chunk of tools.orion.readSession(sessionId)) {
    bytes += chunk.length;
    kept = Buffer.concat([kept, chunk]).subarray(-SHOWN_BYTES);
  }
  // The cut may be within a character.
  const text = new StringDecoder('utf8').write(Buffer.from(kept)).replace(/^\uFFFD+/u, '');
  const lines = text.replace(/\n$/u, '').split('\n').slice(-SHOWN_LINES);
  tools.line(bytes === 0 ? 'Nothing is saved.' : `The last of ${plural(bytes, 'byte')}:`, 'faint');
  if (bytes > 0) {
    tools.face.print({
      kind: 'verbatim',
      lines: lines.map((each) => ({ text: each, tone: 'notice' })),
    });
  }
}
