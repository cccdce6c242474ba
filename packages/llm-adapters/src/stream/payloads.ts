import { MAX_JSON_DEPTH, isFields, nestsDeeper } from '@orion/contracts';
import type { ErrorInfo, Fields, Redact } from '@orion/contracts';

import { quoteProvider } from '../provider-error.ts';
import { invalidStream, truncated } from './message-events.ts';
import type { MessageEvents } from './message-events.ts';

/**
 * One provider's wire format: what its payloads mean for a message. Payloads are JSON objects; everything that
 * formats have in common stands in `createPayloadReader`.
 */
export type WireFormat = {
  /** As in "The stream is not …". */
  readonly name: string;
  /** The names under which texts stand in payloads. */
  readonly textKeys: readonly string[];
  /** The text of a payload that does nothing but add this text; undefined for any other payload. No effect. */
  plainText(payload: Fields): string | undefined;
  read(payload: Fields, eventName: string | undefined): void;
  /** A whole answer in one JSON document, from servers that do not stream. False: it is none. */
  readDocument(document: Fields): boolean;
  /** The payload `[DONE]`. */
  done(): void;
  /** The body has ended in an orderly way. */
  end(): void;
};

/** What the event stream calls for the payloads of one body. */
export type PayloadReader = {
  readonly onEvent: (data: string, name: string | undefined, atEnd: boolean) => string | undefined;
  readonly onDocument: (text: string, kind: 'json' | 'other') => void;
  readonly readText: (data: string) => string | undefined;
};

const QUOTED = 200;
const TOO_DEEP = `JSON is nested deeper than ${MAX_JSON_DEPTH} levels`;
/** The shortest JSON object that says anything is longer. */
const SHORTEST_PAYLOAD = 16;

export function createPayloadReader(
  format: WireFormat,
  message: MessageEvents,
  redact: Redact,
): PayloadReader {
  const fail = (error: ErrorInfo): void => message.fail(error);

  return {
    onEvent: (data, name, atEnd) => {
      if (message.ended) return undefined;
      if (data.length < SHORTEST_PAYLOAD) {
        const short = data.trim();
        if (short === '') return undefined;
        if (short === '[DONE]') {
          format.done();
          return undefined;
        }
      }
      if (nestsDeeper(data, MAX_JSON_DEPTH)) {
        fail(invalidStream(format.name, TOO_DEEP));
        return undefined;
      }
      let payload: unknown;
      try {
        payload = JSON.parse(data);
      } catch {
        if (atEnd) fail(truncated());
        else if (name === 'error') message.providerFailed(data);
        else {
          const quoted = quoteProvider(data, redact, QUOTED);
          fail(invalidStream(format.name, `a payload is not JSON: ${quoted}`));
        }
        return undefined;
      }
      if (name === 'error') {
        message.providerFailed(payload);
        return undefined;
      }
      if (!isFields(payload)) {
        fail(invalidStream(format.name, 'a payload is not a JSON object'));
        return undefined;
      }
      const text = format.plainText(payload);
      if (text === undefined) format.read(payload, name);
      else message.text(text);
      return text;
    },
    onDocument: (text, kind) => {
      if (kind === 'other') {
        fail(invalidStream(format.name, 'it begins like a web page; check the base URL'));
        return;
      }
      if (nestsDeeper(text, MAX_JSON_DEPTH)) {
        fail(invalidStream(format.name, TOO_DEEP));
        return;
      }
      let document: unknown;
      try {
        document = JSON.parse(text);
      } catch {
        fail(truncated());
        return;
      }
      if (!isFields(document) || !format.readDocument(document))
        fail(invalidStream(format.name, 'the answer is JSON, but nothing of that kind'));
    },
    readText: (data) => {
      try {
        const payload: unknown = JSON.parse(data);
        return isFields(payload) ? format.plainText(payload) : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** A number of tokens; what is no such number counts as none. */
export function tokenCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** The fields of an object within a payload; none if it is missing. */
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
