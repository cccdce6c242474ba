import { countCodePoints, firstCodePoints } from '@orion/contracts';

/** The most bytes of a stored output's JSON text (R285). */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const PREVIEW_CHARACTERS = 500;

export type FittingOutput = {
  readonly text: string;
  readonly bytes: number;
  readonly characters: number;
  readonly cut: boolean;
  readonly preview: string;
};

/** An output's JSON text and its measures; the JSON of a text with its beginning where it is too large. */
export function fittingOutput(json: string, maxBytes: number = MAX_OUTPUT_BYTES): FittingOutput {
  const cut = Buffer.byteLength(json) > maxBytes;
  const text = cut ? beginningOf(json, maxBytes) : json;
  return {
    text,
    bytes: Buffer.byteLength(text),
    characters: countCodePoints(text),
    cut,
    preview: firstCodePoints(text, PREVIEW_CHARACTERS),
  };
}

/** Of a text its own beginning, of anything else that of its JSON. */
function beginningOf(json: string, maxBytes: number): string {
  const whole = json.startsWith('"') ? (JSON.parse(json) as string) : json;
  for (let length = Math.min(whole.length, maxBytes); ; length = Math.floor(length * 0.9)) {
    const text = JSON.stringify(whole.slice(0, length).toWellFormed());
    if (Buffer.byteLength(text) <= maxBytes) return text;
  }
}
