import {
  alarmsOf,
  falseAlarmTasks,
  openCommandLane,
  openInProcessLane,
  placeOf,
  runCampaign,
  sampleMatrix,
  startModels,
} from '@orion/manners';
import type { Outcome, Task } from '@orion/manners';
import { expect, onTestFinished, test } from 'vitest';

/** Each manner of a first message once, and each way of answering twice; `npm run manners` runs all of them. */
const SEED = 20_261_122;
const FIRSTS = 45;
const ANSWERS = 21;

async function campaign(
  tasks: readonly Task[],
  open: typeof openCommandLane,
): Promise<readonly Outcome[]> {
  const models = await startModels();
  const lanes = await Promise.all([open(models.url), open(models.url)]);
  onTestFinished(async () => {
    await Promise.all(lanes.map((lane) => lane.close()));
    await models.close();
  });
  return runCampaign({ tasks, models, lanes });
}

/** What must not be: a silently wrong file, or a dead end. */
function failures(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes
    .filter(({ verdict }) => verdict === 'wrong' || verdict === 'stuck' || verdict === 'failed')
    .map((outcome) => `${placeOf(outcome)}: ${outcome.verdict}: ${outcome.why}`);
}

test(
  'R270–R275, R295–R297: whatever the manners, no file is silently wrong',
  { tags: 'long' },
  async () => {
    const tasks = sampleMatrix(FIRSTS, SEED);
    expect(new Set(tasks.map(({ first }) => first.name)).size).toBe(FIRSTS);
    const ways = tasks.flatMap((task) => task.ways.map(({ answer }) => answer.name));
    expect(new Set(ways).size).toBe(ANSWERS);

    expect(failures(await campaign(tasks, openInProcessLane))).toEqual([]);
  },
);

test('R279: the command itself, and the commands that its pauses print', async () => {
  const outcomes = await campaign(sampleMatrix(3, SEED), openCommandLane);

  expect(failures(outcomes)).toEqual([]);
});

test(
  'R271: a good model is asked nothing about files that only look odd',
  { tags: 'long' },
  async () => {
    const outcomes = await campaign(falseAlarmTasks(), openInProcessLane);

    expect(outcomes.length).toBeGreaterThan(70);
    expect(alarmsOf(outcomes)).toEqual([]);
  },
);
