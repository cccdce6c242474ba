import type { Equivalent } from './equivalents.ts';
import type { Mutant } from './mutants.ts';
import type { Outcome } from './run-mutants.ts';

export function formatMutant(mutant: Mutant): string {
  return `${mutant.id}  ${mutant.file}:${mutant.line}  ${mutant.kind}\n${formatChange(mutant)}`;
}

export function formatOutcome({ mutant, noticedBy, tests, ms }: Outcome): string {
  const place = `${mutant.id}  ${mutant.file}:${mutant.line}  ${mutant.kind}`;
  const seconds = `${(ms / 1000).toFixed(1)} s`;
  if (noticedBy !== null) return `noticed   ${place}  ${seconds}  ${noticedBy}`;
  const why = tests === 0 ? 'no test reaches it' : `${tests} test files`;
  return `SURVIVED  ${place}  ${seconds}  ${why}`;
}

function formatChange({ from, to }: Equivalent | Mutant): string {
  const lines = (sign: string, text: string): string[] =>
    text === '' ? [] : text.split('\n').map((line) => `    ${sign} ${line}`);
  return [...lines('-', from), ...lines('+', to)].join('\n');
}

export function formatReport(outcomes: readonly Outcome[]): string {
  const survivors = outcomes.filter(({ noticedBy }) => noticedBy === null);
  const kinds = [...new Set(outcomes.map(({ mutant }) => mutant.kind))].toSorted();
  const rows = kinds.map((kind) =>
    row(
      kind,
      outcomes.filter(({ mutant }) => mutant.kind === kind),
    ),
  );
  return [
    ...survivors.map(({ mutant }) => formatMutant(mutant)),
    '',
    'kind         noticed    of',
    ...rows,
    row('all', outcomes),
  ].join('\n');
}

function row(name: string, outcomes: readonly Outcome[]): string {
  const { noticed, percent } = shareOf(outcomes);
  const cells = [`${noticed}`.padStart(8), `${outcomes.length}`.padStart(6)];
  return `${name.padEnd(12)}${cells.join('')}  ${percent.toFixed(0).padStart(3)} %`;
}

export function shareOf(outcomes: readonly Outcome[]): { noticed: number; percent: number } {
  const noticed = outcomes.filter(({ noticedBy }) => noticedBy !== null).length;
  return { noticed, percent: outcomes.length === 0 ? 100 : (noticed / outcomes.length) * 100 };
}

export function formatStale(stale: readonly Equivalent[]): string {
  return stale
    .map(
      (each) => `equivalent.json: no such change any more in ${each.file}\n${formatChange(each)}\n`,
    )
    .join('');
}
