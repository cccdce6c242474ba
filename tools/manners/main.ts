import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';

import {
  alarmsOf,
  coreMatrix,
  count,
  falseAlarmTasks,
  formatExchanges,
  formatFailures,
  formatRecord,
  formatReport,
  openCommandLane,
  openInProcessLane,
  runCampaign,
  sampleMatrix,
  sizeOf,
  startModels,
  wholeMatrix,
} from './src/index.ts';
import type { Task } from './src/index.ts';

const { values } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    /** `first/answer/document/dress`; `*` or nothing means all. */
    only: { type: 'string' },
    all: { type: 'boolean', default: false },
    'in-process': { type: 'boolean', default: false },
    /** Prints what was asked and said. */
    show: { type: 'boolean', default: false },
    examples: { type: 'string', default: '3' },
    /** A file for what each run asked, said and reported, to compare two states of the product by. */
    record: { type: 'string' },
  },
});

/** Of the core; what is right elsewhere depends on what is chosen. */
const ENOUGH_RIGHT = 0.7;
const isCore = values.only === undefined && values.sample === undefined && !values.all;

const seed = readCount('seed', values.seed ?? String(Math.floor(Math.random() * 1e9)));
const tasks = chooseTasks();
const models = await startModels();
const openLane = values['in-process'] ? openInProcessLane : openCommandLane;
const lanes = await Promise.all(
  Array.from({ length: readCount('jobs', values.jobs) }, () => openLane(models.url)),
);
process.stdout.write(`${sizeOf(tasks)} runs, seed ${seed}\n`);
const began = performance.now();
let done = 0;
const outcomes = await runCampaign({
  tasks,
  models,
  lanes,
  onTask: (own) => {
    done += 1;
    if (values.show) for (const outcome of own) process.stdout.write(formatExchanges(outcome));
    if (done % 100 === 0) process.stdout.write(`${done} of ${tasks.length}\n`);
  },
});
const alarms =
  values.only === undefined
    ? alarmsOf(await runCampaign({ tasks: falseAlarmTasks(), models, lanes }))
    : [];
await Promise.all(lanes.map((lane) => lane.close()));
await models.close();
if (values.record !== undefined) await writeFile(values.record, formatRecord(outcomes));

const right = count(outcomes, 'right') / outcomes.length;
const wrong = count(outcomes, 'wrong');
const nowhere = count(outcomes, 'stuck') + count(outcomes, 'failed');
const repeated = outcomes.filter((outcome) => outcome.repeated).length;
for (const alarm of alarms) process.stdout.write(`FALSE ALARM ${alarm}\n`);
const seconds = ((performance.now() - began) / 1000).toFixed(0);
process.stdout.write(
  `\n${formatReport(outcomes)}\n\n${formatFailures(outcomes, readCount('examples', values.examples))}\n\n` +
    `${outcomes.length} runs (${repeated} word for word like another) in ${seconds} s: ` +
    `${(100 * right).toFixed(1)} % right, ${wrong} silently wrong, ${nowhere} dead ends, ${alarms.length} false alarms\n`,
);
process.exitCode =
  wrong > 0 || nowhere > 0 || alarms.length > 0 || (isCore && right < ENOUGH_RIGHT) ? 1 : 0;

function chooseTasks(): readonly Task[] {
  if (values.only !== undefined) return wholeMatrix(values.only.split('/'));
  if (values.all) return wholeMatrix();
  if (values.sample === undefined) return coreMatrix();
  return sampleMatrix(readCount('sample', values.sample), seed);
}
