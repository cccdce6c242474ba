/**
 * What Postgres keeps for each table beside its rows: a table whose rows come and go is as large as its vacuum lets it
 * be.
 */
import { mean } from './sample.ts';
import type { StoreSample } from './tables.ts';

/** The mean size, and the most dead rows, of one table in a part of the time. */
type Part = { readonly rows: number; readonly mostDead: number; readonly kb: number };
export type Growth = { readonly before: Part; readonly after: Part };

/** What may be added beside the share: to what is small, it makes no difference. */
const SLACK_KB = 1_024;
const SLACK_DEAD = 1_000;
/** What is removed of a table with many changes depends on the moment at which its vacuum comes round. */
const MORE = 1.25;
/** The share of a table's rows that its vacuum lets be dead, by default. A store that is full begins to drop its oldest. */
const VACUUMED_SHARE = 0.2;

/** By table. */
export function growthOf(
  before: readonly StoreSample[],
  after: readonly StoreSample[],
): Readonly<Record<string, Growth>> {
  const names = Object.keys(after.at(-1)?.tables ?? {});
  const partOf = (samples: readonly StoreSample[], name: string): Part => {
    const sizes = samples.flatMap(({ tables }) => tables[name] ?? []);
    return {
      rows: Math.round(mean(sizes.map(({ rows }) => rows))),
      mostDead: Math.max(0, ...sizes.map(({ dead }) => dead)),
      kb: Math.round(mean(sizes.map(({ kb }) => kb))),
    };
  };
  return Object.fromEntries(
    names.map((name) => [name, { before: partOf(before, name), after: partOf(after, name) }]),
  );
}

/** Tables whose size or dead rows grow faster than their rows. */
export function bloatedTables(growth: Readonly<Record<string, Growth>>): readonly string[] {
  return Object.entries(growth).flatMap(([name, { before, after }]) => {
    const most = Math.max(1, after.rows / Math.max(before.rows, 1)) * MORE;
    const isBloated =
      after.kb > before.kb * most + SLACK_KB ||
      after.mostDead > Math.max(before.mostDead * most, after.rows * VACUUMED_SHARE) + SLACK_DEAD;
    return isBloated ? [name] : [];
  });
}
