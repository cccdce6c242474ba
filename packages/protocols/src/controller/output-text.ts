import type { JsonObject } from '@orion/contracts';

/** Deeper output is refused: what reads it later goes through it recursively. */
const MAX_DEPTH = 32;
const MAX_LENGTH = 1024 * 1024;

/**
 * The object in a model's output: the whole trimmed text is JSON, or one code fence around JSON. Prose around it
 * makes it invalid (R197): a quotation in an answer must not become an action. A string is what is wrong.
 */
export function readOutput(text: string): JsonObject | string {
  const body = withoutFence(text.trim());
  if (body === '') return 'there is no output';
  if (body.length > MAX_LENGTH) return `longer than ${MAX_LENGTH} characters`;
  if (depthOf(body) > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return 'not one JSON object and nothing else';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'not a JSON object';
  }
  return value as JsonObject;
}

function withoutFence(text: string): string {
  const fenced = /^```[^\n`]*\n([\s\S]*?)\n?```$/.exec(text);
  return (fenced?.[1] ?? text).trim();
}

/** How deep objects and arrays stand in each other; with few brackets in all there is nothing to look at closely. */
function depthOf(text: string): number {
  const brackets = count(text, '{', MAX_DEPTH) + count(text, '[', MAX_DEPTH);
  if (brackets <= MAX_DEPTH) return brackets;
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
    else if (character === '}' || character === ']') depth -= 1;
  }
  return deepest;
}

/** Counts no further than just beyond the limit. */
function count(text: string, character: string, limit: number): number {
  let found = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) {
    found += 1;
    if (found > limit) break;
  }
  return found;
}
