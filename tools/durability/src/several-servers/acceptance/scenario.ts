/** What the acceptance scenarios share: how one is described, and how its model writes. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { Behaviour, DocumentReply, Shape } from '@orion/llm-adapters/scripted';

import type { Client, PlayedTurn } from './client.ts';
import { sha256 } from './client.ts';

export type Scene = {
  readonly client: Client;
  readonly workspace: string;
  /** Resolves after the next kill, when the killed one is replaced. */
  readonly nextKill: () => Promise<void>;
};

/** One of A1 to A10, in the form that a client over HTTP sees. Each round has a folder and conversations of its own. */
export type Act = {
  readonly name: string;
  /** What the model answers in this round. */
  behaviours(round: number): readonly Behaviour[];
  /** @returns what is wrong */
  play(scene: Scene, round: number): Promise<readonly string[]>;
};

export const folderOf = (name: string, round: number): string => `${name.toLowerCase()}/${round}`;

/** A part of an act, as its message asks for it. */
export const promptOf = (part: string, round: number): string => `Play ${part}, round ${round}.`;

export function messageOf(
  part: string,
  round: number,
): {
  readonly content: string;
  readonly conversationId: string;
} {
  return { content: promptOf(part, round), conversationId: `${part} ${round}` };
}

/** A model that begins one file, writes it, and ends. */
export function writes(
  prompt: string,
  document: DocumentReply,
  shape: Shape = {},
): readonly Behaviour[] {
  const begin = { intent: 'acceptance', target_file: document.target, operation: 'create' };
  return [
    { when: { history: prompt, toolChoice: 'none' }, shape, reply: { document } },
    {
      when: { history: prompt, toolChoice: 'auto', toolResults: 0 },
      reply: { toolCalls: [{ name: BEGIN_TOOL_NAME, arguments: begin }] },
    },
    { when: { history: prompt }, reply: { text: LAST_WORD } },
  ];
}

export const LAST_WORD = 'All written.';

export const text = (content: string): DocumentReply['content'] => ({
  kind: 'text',
  text: content,
});

/** `line 1` to `line n`, each with its line feed. */
export function numbered(word: string, first: number, last: number, digits = 1): string {
  let all = '';
  for (let number = first; number <= last; number += 1)
    all += `${word} ${String(number).padStart(digits, '0')}\n`;
  return all;
}

/** A server that is killed loses what it recorded in its last second, which may be all of a turn. */
export const TRACE_STATUS: readonly number[] = [200, 404];

/** Collects what is wrong. */
export class Findings {
  readonly #found: string[] = [];

  get all(): readonly string[] {
    return this.#found;
  }

  same(what: string, found: unknown, wanted: unknown): void {
    const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
    if (one !== other) this.#found.push(`${what}: ${one}, not ${other}`);
  }

  oneOf(what: string, found: unknown, wanted: readonly unknown[]): void {
    if (!wanted.includes(found))
      this.#found.push(`${what}: ${JSON.stringify(found)}, not one of ${JSON.stringify(wanted)}`);
  }

  add(failures: readonly string[]): void {
    this.#found.push(...failures);
  }
}

/** The file has these bytes, and the turn wrote it once. @returns its receipt */
export async function judgeWritten(
  findings: Findings,
  { workspace }: Scene,
  turn: PlayedTurn,
  target: string,
  wanted: { readonly bytes: number; readonly sha256: string },
): Promise<Readonly<Record<string, unknown>>> {
  findings.add(turn.failures);
  findings.same(`${target} ended`, turn.done['status'], 'complete');
  findings.same(`${target} says`, turn.done['fullContent'], LAST_WORD);
  await judgeFile(findings, workspace, target, wanted);
  const receipts = turn.events.flatMap(({ type, data }) =>
    type === 'write_session' && data['targetFile'] === target && data['receipt'] !== undefined
      ? [data['receipt'] as Readonly<Record<string, unknown>>]
      : [],
  );
  findings.same(`receipts of ${target}`, receipts.length, 1);
  const calls = turn.events.filter(
    ({ type, data }) => type === 'tool_calls' && JSON.stringify(data).includes(target),
  );
  findings.same(`calls for ${target}`, calls.length, 1);
  return receipts[0] ?? {};
}

export async function judgeFile(
  findings: Findings,
  workspace: string,
  target: string,
  wanted: { readonly bytes: number; readonly sha256: string },
): Promise<void> {
  const bytes = await readFile(join(workspace, target)).catch(() => null);
  findings.same(target, bytes && { bytes: bytes.length, sha256: sha256(bytes) }, wanted);
}

export const factsOf = (bytes: Uint8Array | string): { bytes: number; sha256: string } => ({
  bytes: Buffer.byteLength(bytes),
  sha256: sha256(bytes),
});
