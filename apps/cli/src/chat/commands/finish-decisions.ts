import type { FinalizeRequest } from '@orion/agent';
import { ANSWER_WORDS } from '@orion/contracts';

/** What a person decides about a file that is written as it is saved. */
export type FinishDecision = Pick<FinalizeRequest, 'answer' | 'endAt' | 'onConflict'>;

type Labelled = { readonly label: string; readonly decision: FinishDecision };

const OPTION = /--finalize --(?<name>answer|end-at|on-conflict)[ =](?<value>\S+)/u;

const LABELS: Readonly<Record<string, string>> = {
  'answer keep': 'keep it: it is part of the file',
  'answer strip': 'leave it out: it is not part of the file',
  'answer done': 'it ends the file',
  'answer drop': 'leave out what does not join',
  'on-conflict overwrite': 'overwrite the file, which was changed meanwhile; that version is kept',
  'on-conflict keep-both': 'write it beside the file, which was changed meanwhile',
};

/** The answers that a paused session takes, from the commands that it names. */
export function decisionsOf(commands: readonly string[]): readonly Labelled[] {
  return commands.flatMap((command) => {
    const { name, value = '' } = OPTION.exec(command)?.groups ?? {};
    if (name === undefined) return [];
    const label = LABELS[`${name} ${value}`] ?? `end the file before line ${value}`;
    return [{ label, decision: decisionOf(name, value) }];
  });
}

function decisionOf(name: string, value: string): FinishDecision {
  if (name === 'end-at') return { endAt: Number(value) };
  if (name === 'on-conflict') {
    return { onConflict: value === 'overwrite' ? 'overwrite' : 'keep-both' };
  }
  const answer = ANSWER_WORDS.find((word) => word === value);
  return answer === undefined ? {} : { answer };
}
