import type { Message, ToolDefinition } from '@orion/contracts';

import { lastTurns } from './last-turns.ts';
import { bytesOfMessages, bytesOfTools } from './token-meter.ts';
import type { TokenRatio } from './token-meter.ts';

/** A part of a request. `rules` are Orion's own words; `files` is the map of the workspace. */
export type ContextPart = {
  readonly name: 'rules' | 'files' | 'instructions' | 'tools' | 'history' | 'prompt';
  readonly tokens: number;
};

/** What the next request of a conversation holds. Tokens are an estimate, by the length of the text. */
export type ContextReport = {
  readonly parts: readonly ContextPart[];
  /** Of all parts. */
  readonly tokens: number;
  /** The most tokens of a request and its answer together; null if that is not known of the model. */
  readonly limit: number | null;
  /** Whether the estimate follows what the provider counted in the latest request. */
  readonly calibrated: boolean;
  /** Earlier turns of the conversation for which there is no room. */
  readonly leftOutTurns: number;
};

export type ContextFacts = {
  /** The parts of the system prompt. */
  readonly rules: string;
  readonly files: string;
  readonly instructions: readonly string[];
  readonly tools: readonly ToolDefinition[];
  readonly history: readonly Message[];
  /** How much of it is sent, in bytes. */
  readonly historyLimit: number;
  /** What the person is about to send. */
  readonly prompt: string;
  readonly limit: number | null;
  readonly ratio: TokenRatio;
};

export function contextReport(facts: ContextFacts): ContextReport {
  const { history, historyLimit, limit, ratio } = facts;
  const sent = lastTurns(history, historyLimit);
  const bytes: Readonly<Record<ContextPart['name'], number>> = {
    rules: Buffer.byteLength(facts.rules),
    files: Buffer.byteLength(facts.files),
    instructions: Buffer.byteLength(facts.instructions.join('')),
    tools: bytesOfTools(facts.tools),
    history: bytesOfMessages(sent),
    prompt: Buffer.byteLength(facts.prompt),
  };
  const parts = Object.entries(bytes).map(([name, size]) => ({
    name: name as ContextPart['name'],
    tokens: Math.ceil(size / ratio.bytesPerToken),
  }));
  return {
    parts,
    tokens: parts.reduce((sum, part) => sum + part.tokens, 0),
    limit,
    calibrated: ratio.calibrated,
    leftOutTurns: turnsOf(history) - turnsOf(sent),
  };
}

function turnsOf(messages: readonly Message[]): number {
  return messages.filter(({ role }) => role === 'user').length;
}
