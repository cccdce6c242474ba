/** Replaces secrets in a text that a person, a log or a later process will see. */
export type Redact = (text: string) => string;

export const REDACTED = '[REDACTED]';

/** What is shorter may be a word of any text. */
const SHORTEST_KEY = 8;

/**
 * The keys that this process works with, known by their own letters: what a provider says may hold one of them in any
 * form, whole or in pieces.
 *
 * 1. A key is found as it is, as a part of a URL, inside a JSON text, and in base64, wherever in the encoded text it
 *    begins.
 * 2. Whoever shortens a text redacts first, since the rest of a key is not found any more.
 */
export class KeysInUse {
  /** Longest first: a form may be a part of another. */
  #forms: readonly string[] = [];

  constructor(keys: readonly (string | null | undefined)[] = []) {
    for (const key of keys) this.add(key);
  }

  /** Does nothing for what is too short to be told from other text. */
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

  /** For a text that comes in pieces. */
  stream(): RedactedStream {
    return new RedactedStream(this.redact, () => this.#forms);
  }
}

/** Passes on what it is given, but for the end of a piece that a key may begin with: that waits for the next one. */
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

  /** What was held: no key came of it. */
  end(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}

/** Where the longest end of the text stands that is the beginning of a form; its length when there is none. */
function startOfKey(text: string, forms: readonly string[]): number {
  const longest = forms[0]?.length ?? 0;
  for (let start = Math.max(0, text.length - longest + 1); start < text.length; start += 1) {
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

/** The characters of the base64 of a longer text that this part alone decides, where it begins at that offset. */
function base64Within(part: string, offset: number): string {
  const bytes = [...new Uint8Array(offset), ...new TextEncoder().encode(part)];
  const encoded = btoa(String.fromCharCode(...bytes));
  return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}
