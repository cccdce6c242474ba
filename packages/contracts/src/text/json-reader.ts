/** Receives the strings of a JSON text while it arrives, by their keys. */
export type JsonStrings = {
  /** Whether the strings under this key are wanted. */
  readonly wants: (key: string) => boolean;
  /** Such a string begins. */
  readonly onStart: (key: string) => void;
  /** More of it, decoded. */
  readonly onText: (text: string) => void;
};

/** `cut`: more text could complete it. `malformed`: no text could. */
export type JsonState = 'cut' | 'complete' | 'malformed';

/** Deeper texts count as malformed, because code that walks over such a value would overflow the stack. */
export const MAX_JSON_DEPTH: number = 512;

/** Longer keys are never wanted. */
const LONGEST_KEY = 256;

type Expected =
  | 'value'
  | 'first value or ]'
  | 'key'
  | 'first key or }'
  | 'colon'
  | 'more or end'
  | 'string'
  | 'escape'
  | 'unicode'
  | 'word'
  | 'number'
  | 'nothing';

/** The next part of a number, by the current part and the kind of the next character. */
const NUMBER = {
  sign: { 0: 'zero', digit: 'digits' },
  zero: { '.': 'point', e: 'e' },
  digits: { 0: 'digits', digit: 'digits', '.': 'point', e: 'e' },
  point: { 0: 'fraction', digit: 'fraction' },
  fraction: { 0: 'fraction', digit: 'fraction', e: 'e' },
  e: { 0: 'exponent', digit: 'exponent', sign: 'e sign' },
  'e sign': { 0: 'exponent', digit: 'exponent' },
  exponent: { 0: 'exponent', digit: 'exponent' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;
type NumberPart = keyof typeof NUMBER;
const WHOLE: ReadonlySet<NumberPart> = new Set(['zero', 'digits', 'fraction', 'exponent']);

type Container = { readonly isObject: boolean; key: string };

/**
 * Reads a JSON text that arrives in pieces: whether it is complete, where it stops being valid, and its strings.
 *
 * 1. Accepts exactly what `JSON.parse` accepts, except values nested deeper than `MAX_JSON_DEPTH`.
 * 2. The result does not depend on how the text is split. Each character is read once, and no text is kept.
 * 3. Nothing is repaired: text after the first invalid character is not read.
 */
export class JsonReader {
  readonly #objectOnly: boolean;
  readonly #strings: JsonStrings | null;
  readonly #containers: Container[] = [];
  #expected: Expected = 'value';
  #position = 0;
  #errorPosition: number | null = null;
  #number: NumberPart = 'sign';
  /** The rest of `true`, `false` or `null`. */
  #word = '';
  /** The digits of an escape so far. */
  #digits = '';
  #stringIs: 'key' | 'wanted' | 'other' = 'other';
  #key = '';

  /** `root`: whether only an object will do. */
  constructor(root: 'object' | 'any', strings: JsonStrings | null = null) {
    this.#objectOnly = root === 'object';
    this.#strings = strings;
  }

  get state(): JsonState {
    if (this.#errorPosition !== null) return 'malformed';
    if (this.#expected === 'nothing') return 'complete';
    return this.#containers.length === 0 && this.#numberMayEnd() ? 'complete' : 'cut';
  }

  /** The offset of the first invalid character, or null. */
  get errorPosition(): number | null {
    return this.#errorPosition;
  }

  push(text: string): void {
    let index = 0;
    while (index < text.length && this.#errorPosition === null) {
      if (this.#expected === 'string') {
        index = this.#inString(text, index);
      } else if (this.#read(text.charAt(index))) {
        index += 1;
      } else {
        this.#errorPosition = this.#position + index;
      }
    }
    this.#position += text.length;
  }

  /** Reads to the end of a string or to an escape, and returns the next offset. */
  #inString(text: string, start: number): number {
    let index = start;
    while (index < text.length) {
      const code = text.charCodeAt(index);
      if (code === 0x22 || code === 0x5c || code < 0x20) break;
      index += 1;
    }
    if (index > start) this.#say(text.slice(start, index));
    if (index === text.length) return index;
    const character = text.charAt(index);
    if (character === '\\') this.#expected = 'escape';
    else if (character === '"') this.#endString();
    else {
      this.#errorPosition = this.#position + index;
      return index;
    }
    return index + 1;
  }

  /** Returns false if the character is invalid here. */
  #read(character: string): boolean {
    switch (this.#expected) {
      case 'number':
        if (this.#readNumber(character)) return true;
        if (!this.#numberMayEnd()) return false;
        this.#endValue();
        return this.#read(character);
      case 'word':
        if (!this.#word.startsWith(character)) return false;
        this.#word = this.#word.slice(1);
        if (this.#word === '') this.#endValue();
        return true;
      case 'escape':
        return this.#readEscape(character);
      case 'unicode':
        if (!/^[0-9a-fA-F]$/.test(character)) return false;
        this.#digits += character;
        if (this.#digits.length < 4) return true;
        this.#say(String.fromCharCode(Number.parseInt(this.#digits, 16)));
        this.#expected = 'string';
        return true;
      default:
    }
    if (character === ' ' || character === '\n' || character === '\r' || character === '\t')
      return true;
    switch (this.#expected) {
      case 'value':
        return this.#beginValue(character);
      case 'first value or ]':
        return character === ']' ? this.#close() : this.#beginValue(character);
      case 'first key or }':
        return character === '}' ? this.#close() : this.#beginKey(character);
      case 'key':
        return this.#beginKey(character);
      case 'colon':
        this.#expected = 'value';
        return character === ':';
      case 'more or end': {
        const isObject = this.#containers.at(-1)?.isObject ?? false;
        if (character === ',') {
          this.#expected = isObject ? 'key' : 'value';
          return true;
        }
        return character === (isObject ? '}' : ']') && this.#close();
      }
      case 'nothing':
      case 'string':
        return false;
      default:
        return this.#expected satisfies never;
    }
  }

  #beginValue(character: string): boolean {
    const outermost = this.#containers.length === 0;
    if (outermost && this.#objectOnly && character !== '{') return false;
    switch (character) {
      case '{':
      case '[': {
        if (this.#containers.length === MAX_JSON_DEPTH) return false;
        // Items of a list belong to the key of the list.
        const key = character === '{' ? '' : (this.#containers.at(-1)?.key ?? '');
        this.#containers.push({ isObject: character === '{', key });
        this.#expected = character === '{' ? 'first key or }' : 'first value or ]';
        return true;
      }
      case '"': {
        const key = this.#containers.at(-1)?.key ?? '';
        const wanted = this.#strings !== null && this.#strings.wants(key);
        this.#stringIs = wanted ? 'wanted' : 'other';
        this.#expected = 'string';
        if (wanted) this.#strings?.onStart(key);
        return true;
      }
      case 't':
      case 'f':
      case 'n':
        this.#word = character === 't' ? 'rue' : character === 'f' ? 'alse' : 'ull';
        this.#expected = 'word';
        return true;
      default:
        this.#number = 'sign';
        this.#expected = 'number';
        return character === '-' || this.#readNumber(character);
    }
  }

  #beginKey(character: string): boolean {
    this.#key = '';
    this.#stringIs = 'key';
    this.#expected = 'string';
    return character === '"';
  }

  #endString(): void {
    if (this.#stringIs !== 'key') {
      this.#endValue();
      return;
    }
    const container = this.#containers.at(-1);
    if (container !== undefined) container.key = this.#key;
    this.#expected = 'colon';
  }

  #close(): boolean {
    this.#containers.pop();
    this.#endValue();
    return true;
  }

  #endValue(): void {
    this.#expected = this.#containers.length === 0 ? 'nothing' : 'more or end';
  }

  #say(text: string): void {
    if (this.#stringIs === 'wanted') this.#strings?.onText(text);
    else if (this.#stringIs === 'key' && this.#strings !== null && this.#key.length <= LONGEST_KEY)
      this.#key += text;
  }

  #readEscape(character: string): boolean {
    this.#expected = 'string';
    if (character === 'u') {
      this.#digits = '';
      this.#expected = 'unicode';
      return true;
    }
    const decoded = ESCAPES.get(character);
    if (decoded !== undefined) this.#say(decoded);
    return decoded !== undefined;
  }

  #numberMayEnd(): boolean {
    return this.#expected === 'number' && WHOLE.has(this.#number);
  }

  /** Whether the character belongs to the number. */
  #readNumber(character: string): boolean {
    const next = nextNumberPart(this.#number, character);
    if (next !== null) this.#number = next;
    return next !== null;
  }
}

function nextNumberPart(part: NumberPart, character: string): NumberPart | null {
  const next: Readonly<Record<string, NumberPart>> = NUMBER[part];
  if (character === '0' || character === '.') return next[character] ?? null;
  if (character >= '1' && character <= '9') return next['digit'] ?? null;
  if (character === 'e' || character === 'E') return next['e'] ?? null;
  return (character === '+' || character === '-' ? next['sign'] : null) ?? null;
}

const ESCAPES = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }),
);

/**
 * Where a text that `JSON.parse` rejects stops being valid JSON: the offset of the first invalid character, or the
 * length of a text that ends too early. The engine's own message gives the offset only for long texts, and quotes the
 * text.
 */
export function jsonErrorPosition(text: string, root: 'object' | 'any' = 'any'): number {
  const reader = new JsonReader(root);
  reader.push(text);
  return reader.errorPosition ?? text.length;
}
