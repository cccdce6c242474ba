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

/** The adapter and model that made some data, and alone may read it again. */
export type DataOwner = Pick<ProviderData, 'adapter' | 'model'>;

/** Per message, in characters of JSON. Data beyond the limit is dropped whole: half of it would be useless. */
export const MOST_CHARACTERS: number = 1024 * 1024;

/** Labels the data of one message with its owner. */
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

/** The data of a message or call, if it is from this adapter and model. */
export function ownData(data: ProviderData | undefined, owner: DataOwner): JsonValue | undefined {
  return data?.adapter === owner.adapter && data.model === owner.model ? data.value : undefined;
}

/**
 * Parts of an answer, such as signed reasoning, that are returned in the places where they came: before the text, or
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

  /** At the end of the message: parts that no call followed go before its text. */
  takeRest(): JsonObject | undefined {
    this.textBegins();
    return this.take();
  }

  /** The parts since the last call; the first call also carries those of the text. */
  take(): JsonObject | undefined {
    const parts = { before_text: this.#beforeText, before_call: this.#latest };
    this.#beforeText = [];
    this.#latest = [];
    const isEmpty = parts.before_text.length + parts.before_call.length === 0;
    return isEmpty || this.#left < 0 ? undefined : parts;
  }
}

/** Writes the parts of an assistant message in a provider's format. */
type PartWriter<Part> = {
  /** A part to return, as it arrived; nothing if the provider would not accept it. */
  readonly returned: (part: Fields) => readonly Part[];
  readonly text: (text: string) => Part;
  readonly call: (call: ToolCall) => Part;
};

/** The parts of an assistant message in their original order, including those that `ReturnedParts` kept. */
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
