import type { Message, SendOptions, ToolDefinition, Usage } from '@orion/contracts';

import { BYTES_PER_TOKEN } from './content-messages.ts';

export type TokenRatio = {
  readonly bytesPerToken: number;
  /** Whether it is that of a request whose tokens the provider counted. */
  readonly calibrated: boolean;
};

/** Less is not enough text to conclude anything from. */
const MIN_TOKENS = 100;

/** Learns from what a provider reports how many bytes of a request a model's token has. */
export class TokenMeter {
  readonly #ratios = new Map<string, number>();

  /** By the latest request of this model in this process; until there is one, as a history is cut by. */
  ratioOf(model: string): TokenRatio {
    const bytesPerToken = this.#ratios.get(model);
    if (bytesPerToken === undefined) return { bytesPerToken: BYTES_PER_TOKEN, calibrated: false };
    return { bytesPerToken, calibrated: true };
  }

  /** A provider counted the tokens of this request. */
  learn(
    model: string,
    { inputTokens }: Usage,
    messages: readonly Message[],
    { tools = [] }: SendOptions,
  ): void {
    if (inputTokens < MIN_TOKENS) return;
    const bytes = bytesOfMessages(messages) + bytesOfTools(tools);
    if (bytes > 0) this.#ratios.set(model, bytes / inputTokens);
  }
}

/** Of what a model reads of them. */
export function bytesOfMessages(messages: readonly Message[]): number {
  let bytes = 0;
  for (const message of messages) {
    bytes += Buffer.byteLength(message.content);
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls ?? []) {
      bytes += Buffer.byteLength(call.name) + Buffer.byteLength(call.arguments);
    }
  }
  return bytes;
}

export function bytesOfTools(tools: readonly ToolDefinition[]): number {
  return tools.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(tools));
}
