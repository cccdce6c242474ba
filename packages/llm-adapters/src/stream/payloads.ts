import { MAX_JSON_DEPTH, isFields, nestsDeeper, parseFields } from '@orion/contracts';
import type { Fields, Redact } from '@orion/contracts';

import { quoteProvider } from '../provider-error.ts';
import type { StreamEvents } from './event-stream.ts';
import { invalidStream, truncated } from './message-events.ts';
import type { MessageEvents } from './message-events.ts';

/**
 * A wire format: what its payloads, which are JSON objects, mean for a message. Everything that formats share is in
 * `createPayloadReader`.
 */
export type WireFormat = {
  /** As in "The stream is not …". */
  readonly name: string;
  /** The fields of payloads that hold text. */
  readonly textKeys: readonly string[];
  /** The text of a payload that only adds this text; otherwise undefined. Has no effect. */
  plainText(payload: Fields): string | undefined;
  read(payload: Fields, eventName: string | undefined): void;
  /**
   * Reads a whole answer from one JSON document, for servers that do not stream. Returns false if it is not an answer.
   */
  readDocument(document: Fields): boolean;
  /** The payload `[DONE]`. */
  done(): void;
  /** The body has ended in an orderly way. */
  end(): void;
};

const QUOTED = 200;
const TOO_DEEP = `JSON is nested deeper than ${MAX_JSON_DEPTH} levels`;
/** Every meaningful JSON object is longer. */
const SHORTEST_PAYLOAD = 16;

/** Applies the payloads of one body to its message. */
export function createPayloadReader(
  format: WireFormat,
  message: MessageEvents,
  redact: Redact,
): StreamEvents {
  const fail = (what: string): void => message.fail(invalidStream(format.name, what));

  /** The text of a payload that only added text; otherwise undefined. */
  function read(data: string, name: string | undefined, atEnd: boolean): string | undefined {
    let payload: unknown;
    try {
      payload = JSON.parse(data);
    } catch {
      if (atEnd) message.fail(truncated());
      else if (name === 'error') message.providerFailed(data);
      else fail(`a payload is not JSON: ${quoteProvider(data, redact, QUOTED)}`);
      return undefined;
    }
    if (name === 'error') message.providerFailed(payload);
    else if (!isFields(payload)) fail('a payload is not a JSON object');
    else {
      const text = format.plainText(payload);
      if (text === undefined) format.read(payload, name);
      else message.text(text);
      return text;
    }
    return undefined;
  }

  return {
    textKeys: format.textKeys,
    onEvent: (data, name, atEnd) => {
      if (message.ended) return undefined;
      const short = data.length < SHORTEST_PAYLOAD ? data.trim() : undefined;
      if (short === '[DONE]') format.done();
      else if (nestsDeeper(data, MAX_JSON_DEPTH)) fail(TOO_DEEP);
      else if (short !== '') return read(data, name, atEnd);
      return undefined;
    },
    onText: (text) => message.text(text),
    onTooLarge: (limit) => fail(`an event is larger than ${limit} bytes`),
    onDocument: (text, kind) => {
      if (kind === 'other') {
        fail('it looks like a web page; check the base URL');
        return;
      }
      if (nestsDeeper(text, MAX_JSON_DEPTH)) {
        fail(TOO_DEEP);
        return;
      }
      let document: unknown;
      try {
        document = JSON.parse(text);
      } catch {
        message.fail(truncated());
        return;
      }
      if (!isFields(document) || !format.readDocument(document)) fail('it is JSON of another kind');
    },
    readText: (data) => {
      const payload = parseFields(data);
      return payload === null ? undefined : format.plainText(payload);
    },
  };
}

/** A number of tokens; 0 for anything else. */
export function tokenCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** The fields of an object within a payload; no fields if it is missing. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function textField(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

export function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
