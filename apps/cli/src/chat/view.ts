import type { Mode } from '@orion/contracts';

import { progressLine } from '../rendering/progress.ts';
import { formatBytes, formatElapsed, plural } from '../terminal/format.ts';
import type { ChatState } from './controller.ts';
import type { FaceView } from './face.ts';
import type { ChatFacts } from './facts.ts';

/** What the status line says besides the facts of the turns. */
export type StatusFacts = {
  readonly model: string;
  readonly mode: Mode;
  /** Tokens that the model reads; null where that is not known. */
  readonly contextLimit: number | null;
};

/** What is shown of the present. `busySince` and `now` are milliseconds that only grow. */
export function viewOf(
  { phase, waiting, questions }: ChatState,
  facts: ChatFacts,
  status: StatusFacts,
  { busySince, now }: { readonly busySince: number | null; readonly now: number },
): FaceView {
  const busy = phase.kind !== 'idle' && !(phase.kind === 'working' && phase.job.kind === 'start');
  const isAsked = questions.length > 0;
  /** For the answer: nothing is written, and no tool runs. */
  const isWaiting =
    phase.kind === 'working' && facts.progress === null && facts.toolProgress === null;
  return {
    busy,
    activity:
      busySince === null || (isAsked && isWaiting)
        ? null
        : activity(phase.kind, facts, now, now - busySince),
    queued: waiting.map(({ input }) => input.typed),
    status: [...statusParts(facts, status), isAsked ? '' : HINTS[phase.kind]].filter(
      (part) => part !== '',
    ),
    question: questions[0] ?? null,
  };
}

/** What a key or a command does now: the last part, since it is what one knows after a while. */
const HINTS: Readonly<Record<ChatState['phase']['kind'], string>> = {
  idle: '/ commands, @ files',
  working: 'Esc stops',
  stopping: 'Ctrl-C leaves',
  leaving: '',
};

function activity(
  phase: ChatState['phase']['kind'],
  { progress, toolProgress }: ChatFacts,
  now: number,
  elapsed: number,
): string {
  if (phase === 'stopping')
    return `Stopping: what has arrived is being saved  ${formatElapsed(elapsed)}`;
  if (phase === 'leaving') return 'Leaving: what has arrived is being saved';
  if (progress !== null) return progressLine(progress, now);
  return `${toolProgress ?? 'Working'}  ${formatElapsed(elapsed)}`;
}

function statusParts(
  { contextTokens, kept, cost }: ChatFacts,
  { model, mode, contextLimit }: StatusFacts,
): readonly string[] {
  const used = contextTokens === null ? null : shortCount(contextTokens);
  return [
    model,
    mode,
    ...(used === null
      ? []
      : [
          contextLimit === null
            ? `${used} tokens`
            : `${used} of ${shortCount(contextLimit)} tokens`,
        ]),
    ...(kept.files === 0 ? [] : [`${plural(kept.files, 'file')}, ${formatBytes(kept.bytes)} kept`]),
    ...(cost === null ? [] : [formatCost(cost)]),
  ];
}

/** `12400` as `12.4k`. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count);
  const thousands = count / 1000;
  return `${thousands < 100 ? thousands.toFixed(1).replace(/\.0$/u, '') : Math.round(thousands)}k`;
}

/** In US dollars; what is less than a cent with its first digits. */
function formatCost(cost: number): string {
  return `$${cost >= 0.01 || cost === 0 ? cost.toFixed(2) : cost.toPrecision(1)}`;
}
