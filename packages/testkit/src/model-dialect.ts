import type { LlmEvent, ToolCall } from '@orion/contracts';
import { callsReply } from './fake-adapter.ts';

/** How the models of a protocol say what they say: a protocol may ask for another form than the provider's own. */
export type ModelDialect = {
  /** The text of the stream for this answer. */
  readonly answer: (text: string) => string;
  /** False: the models read no calls and no answers to calls either, only text. */
  readonly readsCalls?: boolean;
  /** The events of a message that makes these calls, optionally after some text. */
  readonly calls: (calls: readonly ToolCall[], text?: string) => readonly LlmEvent[];
};

/** Plain text, and calls in the form of the provider. */
export const NATIVE_DIALECT: ModelDialect = { answer: (text) => text, calls: callsReply };
