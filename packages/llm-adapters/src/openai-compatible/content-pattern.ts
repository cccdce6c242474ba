type Fields = Readonly<Record<string, unknown>>;

/** A stream that hardly ever repeats an example is not worth comparing any longer. */
const MOST_MISSES = 32;
const WORTHWHILE_HITS = 8;

/**
 * Recognises events that differ from an earlier one in nothing but the text of `choices[0].delta.content`.
 *
 * Nearly all events of a stream are like that, and parsing only the text costs half of parsing the whole event.
 * It is exact: what stands before and after the text is compared character by character, and what stands between
 * must itself parse as one JSON string; anything else is left to the ordinary way.
 */
export class ContentPattern {
  #before = '';
  #after = '';
  #hits = 0;
  #misses = 0;

  /** The text of an event that fits. */
  read(data: string): string | undefined {
    if (this.#before === '') return undefined;
    const end = data.length - this.#after.length;
    if (
      end < this.#before.length + 2 ||
      !data.startsWith(this.#before) ||
      !data.endsWith(this.#after)
    ) {
      return undefined;
    }
    try {
      const text: unknown = JSON.parse(data.slice(this.#before.length, end));
      if (typeof text !== 'string') return undefined;
      this.#hits += 1;
      return text;
    } catch {
      return undefined;
    }
  }

  /** Takes an event that did not fit as the new example, if it carries text and nothing else. */
  learn(data: string, chunk: Fields): void {
    if (this.#misses >= MOST_MISSES) return;
    const text = onlyText(chunk);
    if (text === undefined || text === '') return;
    this.#misses = this.#hits >= WORTHWHILE_HITS ? 1 : this.#misses + 1;
    this.#hits = 0;
    this.#before = '';
    if (this.#misses === MOST_MISSES) return;
    const literal = JSON.stringify(text);
    const start = data.indexOf(literal);
    if (start === -1 || data.includes(literal, start + 1)) return;
    const before = data.slice(0, start);
    const after = data.slice(start + literal.length);
    // The same characters might stand for something else: another text in their place must change the text only.
    if (sameButText(chunk, `${before}"?"${after}`)) {
      this.#before = before;
      this.#after = after;
    }
  }
}

/** The text of a chunk in which nothing else says anything. */
function onlyText(chunk: Fields): string | undefined {
  const choices = chunk['choices'];
  if (!Array.isArray(choices) || choices.length !== 1) return undefined;
  if (isSaid(chunk['usage']) || isSaid(chunk['error']) || isSaid(chunk['x_groq'])) return undefined;
  const [choice] = choices as readonly unknown[];
  if (!isFields(choice) || (choice['index'] ?? 0) !== 0 || isSaid(choice['error']))
    return undefined;
  const delta = choice['delta'];
  if (!isFields(delta) || isSaid(choice['finish_reason'])) return undefined;
  const others = Object.entries(delta).filter(([name]) => name !== 'content' && name !== 'role');
  if (others.some(([, value]) => isSaid(value))) return undefined;
  return typeof delta['content'] === 'string' ? delta['content'] : undefined;
}

function sameButText(chunk: Fields, changed: string): boolean {
  try {
    const withText = (text: string): string =>
      JSON.stringify(chunk, (key, value: unknown) =>
        key === 'delta' && isFields(value) ? { ...value, content: text } : value,
      );
    return JSON.stringify(JSON.parse(changed)) === withText('?');
  } catch {
    return false;
  }
}

function isSaid(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== null &&
    value !== '' &&
    !(Array.isArray(value) && value.length === 0)
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
