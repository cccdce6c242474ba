import { formatTable } from '@orion/common';

import type { Outcome } from './campaign.ts';
import type { Verdict } from './judge.ts';
import type { Exchange } from './model.ts';

const VERDICTS: readonly Verdict[] = ['right', 'named', 'paused', 'stuck', 'failed', 'wrong'];

/** Rows are first messages, columns ways of answering; then the totals by dress and by document. */
export function formatReport(outcomes: readonly Outcome[]): string {
  return [
    matrix(outcomes),
    LEGEND,
    totals('dress', outcomes, ({ dress }) => dress.name),
    totals('document', outcomes, ({ document }) => document.name),
    totals('answers', outcomes, ({ answer }) => (answer.helps ? 'that help' : 'that do not')),
    totals('first message', outcomes, ({ first }) => first.name),
  ].join('\n\n');
}

const LEGEND =
  'A cell: how many of a hundred files are right; !n: n files are wrong and nothing says so; ?n: n pauses or ends lead nowhere.';

function matrix(outcomes: readonly Outcome[]): string {
  const answers = namesOf(outcomes, ({ answer }) => answer.name);
  const head = ['first message', ...answers.map((_, index) => letter(index)), 'all'];
  const row = (name: string, own: readonly Outcome[]): readonly string[] => [
    name,
    ...answers.map((answer) => cell(own.filter((outcome) => outcome.answer.name === answer))),
    cell(own),
  ];
  const rows = namesOf(outcomes, ({ first }) => first.name).map((name) =>
    row(
      name,
      outcomes.filter(({ first }) => first.name === name),
    ),
  );
  const legend = answers.map((name, index) => `${letter(index)} ${name}`).join(', ');
  return `${formatTable([head, ...rows, row('all', outcomes)], 'right')}\n\n${legend}`;
}

function cell(outcomes: readonly Outcome[]): string {
  if (outcomes.length === 0) return '-';
  const wrong = count(outcomes, 'wrong');
  const nowhere = count(outcomes, 'stuck') + count(outcomes, 'failed');
  const right = Math.floor((100 * count(outcomes, 'right')) / outcomes.length);
  return `${right}${wrong === 0 ? '' : `!${wrong}`}${nowhere === 0 ? '' : `?${nowhere}`}`;
}

function totals(
  name: string,
  outcomes: readonly Outcome[],
  by: (outcome: Outcome) => string,
): string {
  const row = (label: string, own: readonly Outcome[]): readonly string[] => [
    label,
    String(own.length),
    ...VERDICTS.map((verdict) => String(count(own, verdict))),
    `${((100 * count(own, 'right')) / Math.max(1, own.length)).toFixed(1)} %`,
  ];
  return formatTable(
    [
      [name, 'runs', ...VERDICTS, 'right'],
      ...namesOf(outcomes, by).map((label) =>
        row(
          label,
          outcomes.filter((outcome) => by(outcome) === label),
        ),
      ),
      row('all', outcomes),
    ],
    'right',
  );
}

/** What went wrong, the same kind together, with enough to repeat one of each. */
export function formatFailures(outcomes: readonly Outcome[], examples: number): string {
  const bad = outcomes.filter(({ verdict }) => ['wrong', 'stuck', 'failed'].includes(verdict));
  const groups = Map.groupBy(
    bad,
    ({ verdict, first, why }) => `${verdict}: ${first.name}: ${why.split('\n', 1)[0]}`,
  );
  return [...groups]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(
      ([kind, own]) =>
        `${own.length} × ${kind}\n${own
          .slice(0, examples)
          .map((outcome) => `    --only '${placeOf(outcome)}'`)
          .join('\n')}`,
    )
    .join('\n');
}

/** How `--only` names it. */
export function placeOf({ first, answer, document, dress }: Outcome): string {
  return [first.name, answer.name, document.name, dress.name].join('/');
}

export function formatExchanges(outcome: Outcome): string {
  const { verdict, why, exchanges, recovered } = outcome;
  const exchanged = (own: readonly Exchange[]): string =>
    own.map(({ prompt, reply }) => `--- asked\n${prompt}\n--- said\n${reply}\n`).join('');
  const later = recovered.length === 0 ? '' : `--- a good model continues\n${exchanged(recovered)}`;
  return `${placeOf(outcome)}\n${exchanged(exchanges)}${later}--- ${verdict}: ${why}\n`;
}

export function count(outcomes: readonly Outcome[], verdict: Verdict): number {
  return outcomes.filter((outcome) => outcome.verdict === verdict).length;
}

function namesOf(
  outcomes: readonly Outcome[],
  by: (outcome: Outcome) => string,
): readonly string[] {
  return [...new Set(outcomes.map(by))];
}

function letter(index: number): string {
  return String.fromCodePoint('a'.codePointAt(0)! + index);
}
