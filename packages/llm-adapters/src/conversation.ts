import { createToolNames } from '@orion/contracts';
import type { Message, SendOptions, ToolCall, ToolNames } from '@orion/contracts';

import { classifyArguments } from './tool-arguments.ts';

/**
 * What a conversation needs to continue with another provider: ids and names that every provider accepts, and arguments
 * that every server can parse.
 */

/** Call ids that a provider accepts, each used once. A result gets the id of the latest call with its original id. */
export type CallIds = {
  ofCall(id: string): string;
  ofResult(id: string): string;
};

const NOT_IN_IDS = /[^A-Za-z0-9_-]/g;

/**
 * 1. A valid id stays unchanged, so that earlier messages are repeated word for word and the provider's prompt cache
 *    still applies.
 * 2. Local servers restart their numbering in every message: a repeated id gets a number of its own.
 */
export function createCallIds(longest: number): CallIds {
  const used = new Set<string>();
  /** How often each id was used, so that the next free one needs no search. */
  const given = new Map<string, number>();
  const latest = new Map<string, string>();
  return {
    ofCall: (id) => {
      const base = id.replaceAll(NOT_IN_IDS, '_').slice(0, longest) || 'call';
      let fitting = base;
      let number = given.get(base) ?? 1;
      while (used.has(fitting)) {
        number += 1;
        const ending = `_${number}`;
        fitting = base.slice(0, longest - ending.length) + ending;
      }
      given.set(base, number);
      used.add(fitting);
      latest.set(id, fitting);
      return fitting;
    },
    ofResult: (id) =>
      latest.get(id) ?? (id.replaceAll(NOT_IN_IDS, '_').slice(0, longest) || 'call'),
  };
}

/** The names of the tools that a request offers, as providers accept them. */
export function toolNamesOf({ tools = [] }: Pick<SendOptions, 'tools'>): ToolNames {
  return createToolNames(tools.map(({ name }) => name));
}

/**
 * The arguments of an earlier call. Servers parse them again and refuse the whole conversation unless they are a JSON
 * object. A call with broken arguments was never run, and its result explains what was wrong.
 */
export function historicArguments(call: ToolCall): string {
  return classifyArguments(call.arguments) === 'complete' ? call.arguments : '{}';
}

/** Providers refuse blank messages and blank parts. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** The system messages at the start of a conversation, and the rest of it. */
export function splitSystem(messages: readonly Message[]): {
  readonly system: readonly string[];
  readonly rest: readonly Message[];
} {
  const first = messages.findIndex((message) => message.role !== 'system');
  const count = first === -1 ? messages.length : first;
  return {
    system: messages
      .slice(0, count)
      .map((message) => message.content)
      .filter((text) => !isBlank(text)),
    rest: messages.slice(count),
  };
}
