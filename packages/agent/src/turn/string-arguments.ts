/** A string of a JSON text while the text arrives, by the key that it stands under. */
export type StringSink = {
  /** Whether the strings under this key are wanted. */
  readonly wants: (key: string) => boolean;
  /** Such a string begins. */
  readonly onStart: (key: string) => void;
  readonly onText: (text: string) => void;
};

/**
 * Reads the strings of a JSON text that comes in pieces, at any depth, decoded as they come.
 *
 * 1. Any split of the text gives the same strings: inside an escape too.
 * 2. A text that is no JSON, or ends early, gives what of its strings could be read; nothing here fails.
 */
export class StringArguments {
  readonly #sink: StringSink;
  /** The open containers; what stands in a list stands under the key of the list. */
  readonly #containers: { readonly isObject: boolean; key: string }[] = [];
  #key = '';
  #keyNext = false;
  #string: 'none' | 'key' | 'wanted' | 'other' = 'none';
  #escape = '';

  constructor(sink: StringSink) {
    this.#sink = sink;
  }

  push(text: string): void {
    let start = 0;
    for (let position = 0; position < text.length; position += 1) {
      const character = text.charAt(position);
      if (this.#string === 'none') {
        this.#structure(character);
        start = position + 1;
      } else if (this.#escape !== '') {
        this.#escape += character;
        start = position + 1;
        this.#endEscape();
      } else if (character === '\\') {
        this.#say(text.slice(start, position));
        this.#escape = '\\';
        start = position + 1;
      } else if (character === '"') {
        this.#say(text.slice(start, position));
        this.#endString();
        start = position + 1;
      }
    }
    if (this.#string !== 'none' && this.#escape === '') this.#say(text.slice(start));
  }

  #structure(character: string): void {
    switch (character) {
      case '{':
        this.#containers.push({ isObject: true, key: '' });
        this.#keyNext = true;
        return;
      case '[':
        this.#containers.push({ isObject: false, key: this.#containers.at(-1)?.key ?? '' });
        this.#keyNext = false;
        return;
      case '}':
      case ']':
        this.#containers.pop();
        this.#keyNext = false;
        return;
      case ',':
        this.#keyNext = this.#containers.at(-1)?.isObject === true;
        return;
      case '"': {
        if (this.#keyNext) {
          this.#key = '';
          this.#string = 'key';
          this.#keyNext = false;
          return;
        }
        const key = this.#containers.at(-1)?.key ?? '';
        this.#string = this.#sink.wants(key) ? 'wanted' : 'other';
        if (this.#string === 'wanted') this.#sink.onStart(key);
        return;
      }
      default:
    }
  }

  #endString(): void {
    const container = this.#containers.at(-1);
    if (this.#string === 'key' && container !== undefined) container.key = this.#key;
    this.#string = 'none';
  }

  #say(text: string): void {
    if (text === '') return;
    if (this.#string === 'key') this.#key += text;
    else if (this.#string === 'wanted') this.#sink.onText(text);
  }

  #endEscape(): void {
    const escape = this.#escape;
    if (escape.charAt(1) === 'u') {
      if (escape.length < 6) return;
      const code = Number.parseInt(escape.slice(2), 16);
      this.#say(Number.isNaN(code) ? escape : String.fromCharCode(code));
    } else {
      const letter = escape.charAt(1);
      this.#say(ESCAPES[letter] ?? letter);
    }
    this.#escape = '';
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
