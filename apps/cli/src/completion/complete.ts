import { cutToColumns, defined } from '@orion/contracts';
import type { Command } from 'commander';

import type { CommandContext } from '../process/context.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { DIRECTIVES, wantedAfter, type Candidate, type Wanted } from './wanted.ts';

/**
 * `orion complete -- <words>`: what the scripts ask, on stdout. One candidate a line, with a tab before its description,
 * and last what the shell does besides. Whatever goes wrong, the answer is none: a person who types wants no errors.
 */
export async function completeCommand(
  context: CommandContext,
  words: readonly string[],
  _options: unknown,
  command: Command,
): Promise<void> {
  const wanted = wantedAfter(command.parent ?? command, words);
  const candidates = [...wanted.candidates, ...(await idsFor(wanted, context))];
  await context.stdout.write(`${answerLines(wanted, candidates).join('\n')}\n`);
}

export function answerLines(wanted: Wanted, candidates: readonly Candidate[]): readonly string[] {
  const lines = candidates
    .filter(({ value }) => value.startsWith(wanted.prefix) && SAFE.test(value))
    .map(({ value, description }) => `${value}\t${shown(description)}`);
  return [...lines, `:${directiveOf(wanted)}`];
}

/** A shell may read a candidate again as its own words, and ids may come from a workspace of somebody else. */
const SAFE = /^-{0,2}[\w][\w.-]*$/u;
const DESCRIPTION_COLUMNS = 60;

function shown(description: string): string {
  const line = sanitizeLine(description).replaceAll('\t', ' ');
  const { text } = cutToColumns(line, DESCRIPTION_COLUMNS);
  return text === line ? line : `${text}…`;
}

function directiveOf({ kind }: Wanted): number {
  return kind === 'files' || kind === 'folders' ? DIRECTIVES[kind] : DIRECTIVES.none;
}

async function idsFor(wanted: Wanted, context: CommandContext): Promise<readonly Candidate[]> {
  const { kind, prefix, workspace } = wanted;
  if (kind === null || kind === 'files' || kind === 'folders') return [];
  try {
    const { idsOf } = await import('./ids.ts');
    // The shell has not read the words yet.
    const cwd = workspace?.replace(/^~(?=\/|$)/u, context.homeDirectory ?? '~');
    return await idsOf(kind, prefix, context, defined({ cwd }));
  } catch {
    return [];
  }
}
