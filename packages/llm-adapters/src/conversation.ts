import type { Message, ToolCall } from '@orion/contracts';

import { classifyArguments } from './tool-arguments.ts';

/**
 * What a conversation needs so that it can go on with another provider than the one it began with: ids and names
 * that every provider takes, and arguments that every server can parse.
 */

/** Ids of calls as a provider takes them, each used once; results find the call that came before them. */
export type CallIds = {
  ofCall(id: string): string;
  ofResult(id: string): string;
};

const NOT_IN_IDS = /[^A-Za-z0-9_-]/g;

/**
 * 1. An id that fits stays what it is, so that what was sent before is sent again in the same words and the
 *    provider's prompt cache still holds.
 * 2. Local servers number their calls anew in every message: a repeated id gets a number of its own.
 */
export function createCallIds(longest: number): CallIds {
  const used = new Set<string>();
  /** How often an id was given so far, so that the next free one need not be looked for. */
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

/** A model may have called a tool by a name that no provider lets pass. */
export function toolName(name: string): string {
  return name.replaceAll(NOT_IN_IDS, '_').slice(0, 64) || 'unnamed';
}

/**
 * The arguments of an earlier call. Servers parse them again and refuse the whole conversation when they are not a
 * JSON object. Such a call was never run, and its result tells the model what was wrong with it.
 */
export function historicArguments(call: ToolCall): string {
  return classifyArguments(call.arguments) === 'complete' ? call.arguments : '{}';
}

/** Providers refuse messages, or parts of them, in which nothing is said. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** The system messages that a conversation begins with, and what follows them. */
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
