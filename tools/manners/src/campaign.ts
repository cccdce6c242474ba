import { shareOut } from '@orion/common';

import type { Answer, Dress } from './answers.ts';
import type { Document } from './documents.ts';
import type { First } from './firsts.ts';
import { judge } from './judge.ts';
import type { Judgement } from './judge.ts';
import type { Ended, Lane } from './lane.ts';
import type { Exchange, Manners, Models } from './model.ts';
import { tryPause } from './pauses.ts';
import type { TriedPauses } from './pauses.ts';
import { Transcripts } from './transcripts.ts';

/** One first message of one document, and everything that is answered after it. */
export type Task = {
  readonly first: First;
  readonly document: Document;
  readonly ways: readonly { readonly answer: Answer; readonly dress: Dress }[];
};

export type Outcome = Manners &
  Judgement & {
    readonly exchanges: readonly Exchange[];
    /** How the run ended, and then each command that its pause printed. */
    readonly ends: readonly Ended[];
    /** What was asked and said after it, of a good model that went on where this one came to a pause. */
    readonly recovered: readonly Exchange[];
    /** Another run said and was asked the same, word for word, so this one was not repeated. */
    readonly repeated: boolean;
  };

/** Runs all tasks, one in each lane at a time. */
export async function runCampaign(options: {
  readonly tasks: readonly Task[];
  readonly models: Models;
  readonly lanes: readonly Lane[];
  readonly onTask?: (outcomes: readonly Outcome[]) => void;
}): Promise<readonly Outcome[]> {
  const { tasks, models, lanes, onTask } = options;
  const all: Outcome[] = [];
  await shareOut(lanes, tasks, async (task, lane) => {
    const outcomes = await runTask(task, models, lane);
    all.push(...outcomes);
    onTask?.(outcomes);
  });
  return all;
}

async function runTask(task: Task, models: Models, lane: Lane): Promise<readonly Outcome[]> {
  const { first, document } = task;
  const transcripts = new Transcripts<Judgement & Pick<Outcome, 'ends'>>();
  const tried: TriedPauses = new Map();
  const outcomes: Outcome[] = [];
  for (const { answer, dress } of task.ways) {
    const manners: Manners = { document, first, answer, dress };
    const known = transcripts.find(manners);
    if (known !== null) {
      outcomes.push({
        ...manners,
        ...known.result,
        exchanges: known.exchanges,
        recovered: [],
        repeated: true,
      });
      continue;
    }
    const model = models.add(manners);
    await lane.clear();
    const ended = await lane.run(model);
    const ends = [ended];
    const noting: Lane = {
      ...lane,
      command: async (words) => {
        const end = await lane.command(words);
        ends.push(end);
        return end;
      },
    };
    const exchanges = [...model.exchanges];
    const judged = await judge(ended, model, lane.workspace);
    const judgement =
      judged.verdict === 'paused' ? await tryPause(ended, model, noting, tried) : judged;
    models.remove(model);
    transcripts.add(exchanges, { ...judgement, ends });
    const recovered = model.exchanges.slice(exchanges.length);
    outcomes.push({ ...manners, ...judgement, exchanges, ends, recovered, repeated: false });
  }
  await lane.clear();
  return outcomes;
}
