/** Replaces secrets in a text that is shown, logged or stored. */
export type Redact = (text: string) => string;

export const REDACTED = '[REDACTED]';

/** A shorter key could be an ordinary word. */
const SHORTEST_KEY = 8;

/**
 * The API keys that this process uses. They are found by value, because a provider's answer may contain a key in any
 * encoding, whole or in pieces.
 *
 * 1. A key is found verbatim, URL-encoded, JSON-escaped, and in base64 at any offset of the encoded text.
 * 2. Redact a text before you shorten it: a part of a key is not found.
 */
export class KeysInUse {
  /** Longest first, because one form may contain another. */
  #forms: readonly string[] = [];

  constructor(keys: readonly (string | null | undefined)[] = []) {
    for (const key of keys) this.add(key);
  }

  /** Ignores keys that are too short to be distinguished from other text. */
  add(key: string | null | undefined): void {
    if (typeof key !== 'string' || key.length < SHORTEST_KEY) return;
    const forms = new Set([...this.#forms, ...formsOf(key)]);
    this.#forms = [...forms].toSorted((a, b) => b.length - a.length);
  }

  readonly redact: Redact = (text) => {
    let clean = text;
    for (const form of this.#forms) {
      if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);
    }
    return clean;
  };

  /** For a text that arrives in pieces. */
  stream(): RedactedStream {
    return new RedactedStream(this.redact, () => this.#forms);
  }
}

/** Passes text on, but holds back the end of a piece that may be the beginning of a key until the next piece. */
export class RedactedStream {
  readonly #redact: Redact;
  readonly #forms: () => readonly string[];
  #held = '';

  constructor(redact: Redact, forms: () => readonly string[]) {
    this.#redact = redact;
    this.#forms = forms;
  }

  push(text: string): string {
    const clean = this.#redact(this.#held + text);
    const start = startOfKey(clean, this.#forms());
    this.#held = clean.slice(start);
    return clean.slice(0, start);
  }

  /** Returns what was held back, which turned out not to be a key. */
  end(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}

/**
 * The offset of the longest suffix of the text that is a prefix of a form, or the length of the text if there is
 * none.
 */
function startOfKey(text: string, forms: readonly string[]): number {
  const longest = forms[0]?.length ?? 0;
  for (let start = Math.max(0, text.length - longest + 1); start < text.length; start += 1) {
    if (forms.every((form) => form[0] !== text[start])) continue;
    const end = text.slice(start);
    if (forms.some((form) => form.startsWith(end))) return start;
  }
  return text.length;
}

function formsOf(key: string): readonly string[] {
  const inUrl = encodeURIComponent(key.toWellFormed());
  return [
    key,
    inUrl,
    inUrl.replaceAll(/%[0-9A-F]{2}/gu, (escape) => escape.toLowerCase()),
    JSON.stringify(key).slice(1, -1),
    ...[0, 1, 2].flatMap((offset) => {
      const form = base64Within(key, offset);
      return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
    }),
  ];
}

/**
 * The characters in the base64 of a longer text that depend only on this part, if it begins at this offset modulo 3.
 */
function base64Within(part: string, offset: number): string {
  const bytes = [...new Uint8Array(offset), ...new TextEncoder().encode(part)];
  const encoded = btoa(String.fromCharCode(...bytes));
  return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}
