import type { ToolCall } from '@orion/contracts';

/**
 * The truth about a call's argument text: `complete` if it parses as a JSON object, `cut` if it is the beginning
 * of one, `malformed` otherwise. Nothing is repaired: a lenient parser turns a cut-off call into a plausible
 * shorter one, and running that would write half a file.
 */
export function classifyArguments(text: string): ToolCall['state'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? 'complete'
      : 'malformed';
  } catch {
    return isJsonObjectPrefix(text) ? 'cut' : 'malformed';
  }
}

const WHITE_SPACE = /[ \t\n\r]/;
const ESCAPES = new Set(['"', '\\', '/', 'b', 'f', 'n', 'r', 't']);
const LITERALS = ['true', 'false', 'null'];
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const NUMBER_PREFIX = /^-?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]*)?$/;

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end';

/** Whether more text could make this a JSON object. */
export function isJsonObjectPrefix(text: string): boolean {
  const containers: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let position = 0;

  while (position < text.length) {
    const character = text.charAt(position);
    if (WHITE_SPACE.test(character)) {
      position += 1;
      continue;
    }
    if (containers.length === 0 && position > 0 && expected === 'comma-or-end') return false;
    switch (expected) {
      case 'value':
      case 'value-or-end': {
        if (containers.length === 0 && character !== '{') return false;
        if (character === '{' || character === '[') {
          containers.push(character);
          expected = character === '{' ? 'key-or-end' : 'value-or-end';
          position += 1;
          continue;
        }
        if (character === ']' && expected === 'value-or-end') {
          containers.pop();
          expected = 'comma-or-end';
          position += 1;
          continue;
        }
        const end = character === '"' ? endOfString(text, position) : endOfScalar(text, position);
        if (end === 'cut') return true;
        if (end === 'malformed') return false;
        expected = 'comma-or-end';
        position = end;
        continue;
      }
      case 'key':
      case 'key-or-end': {
        if (character === '}' && expected === 'key-or-end') {
          containers.pop();
          expected = 'comma-or-end';
          position += 1;
          continue;
        }
        if (character !== '"') return false;
        const end = endOfString(text, position);
        if (end === 'cut') return true;
        if (end === 'malformed') return false;
        expected = 'colon';
        position = end;
        continue;
      }
      case 'colon':
        if (character !== ':') return false;
        expected = 'value';
        position += 1;
        continue;
      case 'comma-or-end': {
        const container = containers.at(-1);
        if (character === ',') expected = container === '{' ? 'key' : 'value';
        else if (character === (container === '{' ? '}' : ']')) containers.pop();
        else return false;
        position += 1;
        continue;
      }
      default:
        expected satisfies never;
    }
  }
  return containers.length > 0 || expected === 'value';
}

function endOfString(text: string, start: number): number | 'cut' | 'malformed' {
  for (let position = start + 1; position < text.length; position += 1) {
    const character = text.charAt(position);
    if (character === '"') return position + 1;
    if (character < ' ') return 'malformed';
    if (character !== '\\') continue;
    position += 1;
    if (position >= text.length) return 'cut';
    const escape = text.charAt(position);
    if (escape === 'u') {
      const digits = text.slice(position + 1, position + 5);
      if (!/^[0-9a-fA-F]*$/.test(digits)) return 'malformed';
      if (digits.length < 4) return 'cut';
      position += 4;
    } else if (!ESCAPES.has(escape)) {
      return 'malformed';
    }
  }
  return 'cut';
}

function endOfScalar(text: string, start: number): number | 'cut' | 'malformed' {
  let end = start;
  while (end < text.length && /[-+.0-9A-Za-z]/.test(text.charAt(end))) end += 1;
  const scalar = text.slice(start, end);
  if (scalar === '') return 'malformed';
  if (end === text.length) {
    const canGrow =
      LITERALS.some((literal) => literal.startsWith(scalar)) || NUMBER_PREFIX.test(scalar);
    return canGrow ? 'cut' : 'malformed';
  }
  return LITERALS.includes(scalar) || NUMBER.test(scalar) ? end : 'malformed';
}
