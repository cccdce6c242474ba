import { isFields } from '@orion/contracts';
import type { Fields, JsonObject, JsonValue, ProviderData } from '@orion/contracts';

/** Who made some data, and who may read it again. */
export type DataOwner = Pick<ProviderData, 'adapter' | 'model'>;

/** In characters of JSON, over a whole message. What goes beyond is not kept: half of it is worth nothing. */
export const MOST_CHARACTERS: number = 1024 * 1024;

/** Wraps what the answer of one message brings for its provider. */
export class ProviderDataMaker {
  readonly #owner: DataOwner;
  #left = MOST_CHARACTERS;

  constructor({ adapter, model }: DataOwner) {
    this.#owner = { adapter, model };
  }

  make(value: JsonValue | undefined): { readonly providerData?: ProviderData } {
    if (value === undefined) return {};
    this.#left -= JSON.stringify(value).length;
    return this.#left < 0 ? {} : { providerData: { ...this.#owner, value } };
  }
}

/** What an adapter finds of its own on a message or a call; undefined for what another one or another model made. */
export function ownData(data: ProviderData | undefined, owner: DataOwner): JsonValue | undefined {
  return data?.adapter === owner.adapter && data.model === owner.model ? data.value : undefined;
}

/**
 * Parts of an answer, such as signed reasoning, that go back at the places at which they came: before the text, or
 * before the call that followed them.
 */
export class ReturnedParts {
  #beforeText: JsonObject[] = [];
  #latest: JsonObject[] = [];
  #left = MOST_CHARACTERS;

  add(part: JsonObject): void {
    this.#left -= JSON.stringify(part).length;
    if (this.#left >= 0) this.#latest.push(part);
  }

  textBegins(): void {
    this.#beforeText.push(...this.#latest);
    this.#latest = [];
  }

  /** At the end of the message: what followed no call stands before its text. */
  takeRest(): JsonObject | undefined {
    this.textBegins();
    return this.take();
  }

  /** Those that have come since the last call, with those of the text for the first one. */
  take(): JsonObject | undefined {
    const parts = { before_text: this.#beforeText, before_call: this.#latest };
    this.#beforeText = [];
    this.#latest = [];
    const isEmpty = parts.before_text.length + parts.before_call.length === 0;
    return isEmpty || this.#left < 0 ? undefined : parts;
  }
}

export type PartPlace = 'before_text' | 'before_call';

/** Of what `take` gave, the parts of one place. */
export function partsOf(value: JsonValue | undefined, place: PartPlace): readonly Fields[] {
  const parts: unknown = isFields(value) ? value[place] : undefined;
  return Array.isArray(parts) ? (parts as readonly unknown[]).filter(isFields) : [];
}
