import { isFields } from '@orion/contracts';
import type {
  AssistantMessage,
  Fields,
  JsonObject,
  JsonValue,
  ProviderData,
  ToolCall,
} from '@orion/contracts';

import { isBlank } from './conversation.ts';

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

/** How the parts of an assistant message are written in a provider's format. */
type PartWriter<Part> = {
  /** What was returned, as it came; what the provider would not take becomes nothing. */
  readonly returned: (part: Fields) => readonly Part[];
  readonly text: (text: string) => Part;
  readonly call: (call: ToolCall) => Part;
};

/** An assistant message in the order in which it was said, with what `ReturnedParts` kept for its provider. */
export function assistantParts<Part>(
  message: AssistantMessage,
  owner: DataOwner,
  write: PartWriter<Part>,
): Part[] {
  const { content, toolCalls = [] } = message;
  const returned = (data: ProviderData | undefined, place: string): readonly Part[] => {
    const own = ownData(data, owner);
    const parts: unknown = isFields(own) ? own[place] : undefined;
    return Array.isArray(parts) ? parts.filter(isFields).flatMap(write.returned) : [];
  };
  return [
    ...[message, ...toolCalls].flatMap(({ providerData }) => returned(providerData, 'before_text')),
    ...(isBlank(content) ? [] : [write.text(content)]),
    ...toolCalls.flatMap((call) => [
      ...returned(call.providerData, 'before_call'),
      write.call(call),
    ]),
  ];
}
