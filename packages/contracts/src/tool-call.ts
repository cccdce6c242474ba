import type { JsonValue } from './json.ts';

/**
 * A call that a model made. `arguments` is the exact text that arrived.
 *
 * `state` describes that text, whatever finish reason the provider gave. Only a `complete` call is ever run. `cut`:
 * the text ends before its JSON does. `malformed`: it is not a JSON object.
 */
export type ToolCall = {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly state: 'complete' | 'cut' | 'malformed';
  /**
   * A call of a provider's free-form tool: `arguments` is any text, `complete` if it is whole. Such tools are never
   * offered, and no registry runs them.
   */
  readonly kind?: 'custom';
  readonly providerData?: ProviderData;
  /** Where arguments that look like the content of a file were saved, so that the text is not lost with the call. */
  readonly kept?: readonly KeptArgument[];
};

/**
 * Opaque data that a provider wants back with its own call or message, such as a signature of the reasoning behind
 * it. Only the named adapter reads `value`, and only for that model; others ignore it. It is stored with the
 * conversation but never shown, traced or sent in events.
 */
export type ProviderData = {
  readonly adapter: string;
  readonly model: string;
  readonly value: JsonValue;
};

export type KeptArgument = {
  /** The name of the argument, or `arguments` for all of them. */
  readonly name: string;
  /** All arguments exactly as they arrived: they are not JSON, so no single text could be extracted. */
  readonly raw?: true;
  readonly path: string;
  readonly lines: number;
  readonly bytes: number;
  /** Of a text in an action: the SHA-256 of its UTF-16 (little endian), in base64. */
  readonly digest?: string;
};
