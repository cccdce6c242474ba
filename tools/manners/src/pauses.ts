import { createHash } from 'node:crypto';
import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { PausedSession } from '@orion/contracts';

import { judge } from './judge.ts';
import type { Judgement } from './judge.ts';
import type { Ended, Lane } from './lane.ts';
import type { Model } from './model.ts';

/** How often a command that pauses again is followed. */
const DEPTH = 3;

/** Judgements of pauses that were tried: the same text with the same question has the same ways on. */
export type TriedPauses = Map<string, Judgement>;

/**
 * Runs every command that a pause has printed, each from the same state. Each has to do what it says, and one of
 * them, or one that it prints in turn, has to lead to the document: with a good model where the model continues.
 */
export async function tryPause(
  ended: Ended,
  model: Model,
  lane: Lane,
  tried: TriedPauses,
): Promise<Judgement> {
  const [paused] = ended.paused;
  if (paused === undefined) return { verdict: 'failed', why: 'nothing is paused' };
  const key = await keyOf(paused, model);
  const known = tried.get(key);
  if (known !== undefined) return known;
  model.improve();
  const way = await findWay(paused, model, lane, DEPTH);
  // Where no question is open, a person has the text and the model's word that it is not finished.
  const isChoice = paused.commands.some((command) => /--answer|--end-at/u.test(command));
  const leads = way.isRight || !isChoice;
  const verdict = way.broken.length === 0 && leads ? 'paused' : 'stuck';
  const why = [
    paused.code,
    ...way.broken,
    ...(leads ? [] : [`no printed command leads to the document: ${listed(paused)}`]),
  ].join('; ');
  const judgement: Judgement = { verdict, why };
  tried.set(key, judgement);
  return judgement;
}

type Way = { readonly isRight: boolean; readonly broken: readonly string[] };

async function findWay(
  paused: PausedSession,
  model: Model,
  lane: Lane,
  depth: number,
): Promise<Way> {
  // A text that could not be saved in the workspace lies in a folder of its own.
  const places = [
    lane.workspace,
    ...(paused.rescued_text === undefined ? [] : [paused.session_dir]),
  ];
  const keptOf = (place: string): string => `${place}.${depth}`;
  for (const place of places) await copy(place, keptOf(place));
  const broken: string[] = [];
  let isRight = false;
  try {
    for (const command of paused.commands) {
      await lane.clear();
      for (const place of places) await copy(keptOf(place), place);
      const ended = await lane.command(wordsOf(command).slice(1));
      if (command.includes('--discard')) {
        if (ended.exitCode !== 0) broken.push(`${plain(command)}: exit code ${ended.exitCode}`);
        continue;
      }
      const { verdict, why } = await judge(ended, model, lane.workspace);
      // After a wrong answer there may be no right file any more; the receipt still has to say so.
      if (verdict === 'right' || (verdict === 'named' && model.falseAnswers.size > 0))
        isRight = true;
      if (verdict === 'failed') broken.push(`${plain(command)}: ${why}`);
      const [next] = ended.paused;
      if (verdict === 'paused' && next !== undefined && !isRight && depth > 0) {
        const further = await findWay(next, model, lane, depth - 1);
        isRight ||= further.isRight;
        broken.push(...further.broken);
      }
    }
  } finally {
    for (const place of places) await rm(keptOf(place), { recursive: true, force: true });
  }
  return { isRight, broken };
}

async function copy(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await cp(from, to, { recursive: true, preserveTimestamps: true });
}

/** The words of a printed command, as a POSIX shell reads them: only single quotes are ever printed. */
export function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/(?:[^\s'\\]|\\.|'[^']*')+/gu)].map(([word]) =>
    word.replaceAll(
      /'([^']*)'|\\(.)/gu,
      (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? '',
    ),
  );
}

function plain(command: string): string {
  return command.replaceAll(ID, '<id>');
}

function listed({ commands }: PausedSession): string {
  return commands
    .map((command) => plain(command).replace('orion recover-session <id>', '…'))
    .join(' | ');
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/gu;

/** All that the ways on depend on: the saved text, what is open, and what the model has in mind. */
async function keyOf(paused: PausedSession, { manners }: Model): Promise<string> {
  const hash = createHash('sha256');
  for (const name of ['content.txt', 'state.json']) {
    const text = await readFile(join(paused.session_dir, name), 'utf8').catch(() => '');
    hash.update(text.replaceAll(ID, '').replaceAll(/"[0-9]{4}-[0-9-]+T[0-9:.]+Z"/gu, ''));
  }
  hash.update(paused.code + paused.commands.join('\n').replaceAll(ID, ''));
  return `${manners.document.name}/${manners.first.name}/${hash.digest('hex')}`;
}
