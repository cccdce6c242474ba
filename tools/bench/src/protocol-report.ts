import { formatTable } from '@orion/common';

import type { Goal } from './goals.ts';
import type { ChunkFlow, OverheadFigures } from './protocol-overhead.ts';
import type { TaskFigures } from './protocol-task.ts';
import { formatSpread } from './statistics.ts';

const MAX_RATIO = 1.05;

export function formatOverhead(
  flows: Readonly<Record<ChunkFlow, readonly OverheadFigures[]>>,
): string {
  return formatTable([
    ['chunks arrive', 'deltas', 'protocol', 'adapter CPU ms', 'turn CPU ms', 'ratio'],
    ...Object.entries(flows).flatMap(([flow, figures]) =>
      figures.map(({ protocol, deltas, adapterMs, turnMs, ratio }) => [
        flow,
        String(deltas),
        protocol,
        formatSpread(adapterMs, 1),
        formatSpread(turnMs, 1),
        formatSpread(ratio, 2),
      ]),
    ),
  ]);
}

export function formatTasks(tasks: readonly TaskFigures[]): string {
  return formatTable([
    ['reading three files', 'model calls', 'input tokens', 'output tokens', 'wall ms'],
    ...tasks.map(({ protocol, calls, inputTokens, outputTokens, wallMs }) => [
      protocol,
      String(calls),
      String(inputTokens),
      String(outputTokens),
      formatSpread(wallMs, 1),
    ]),
  ]);
}

export function protocolGoals(figures: {
  readonly bulk: readonly OverheadFigures[];
  readonly eventByEvent: readonly OverheadFigures[];
}): readonly Goal[] {
  const goals = (flow: ChunkFlow, list: readonly OverheadFigures[]): Goal[] =>
    list.map(({ protocol, ratio }) => ({
      name: `CPU of a ${protocol} turn beside the adapter alone, ${flow}`,
      wanted: `at most ${MAX_RATIO} x`,
      measured: `${ratio.median.toFixed(3)} x`,
      met: ratio.median <= MAX_RATIO,
    }));
  return [...goals('bulk', figures.bulk), ...goals('event by event', figures.eventByEvent)];
}
