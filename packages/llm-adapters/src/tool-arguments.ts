import { JsonReader } from '@orion/contracts';
import type { ToolCall } from '@orion/contracts';

/**
 * Classifies the argument text of a call: `complete` if it parses as a JSON object, `cut` if it is the beginning of
 * one, otherwise `malformed`. Nothing is repaired: a lenient parser turns a cut-off call into a plausible shorter one,
 * and running that would write half a file.
 */
export function classifyArguments(text: string): ToolCall['state'] {
  const reader = new JsonReader('object');
  reader.push(text);
  return reader.state;
}
