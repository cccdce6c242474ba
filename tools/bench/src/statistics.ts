export type Spread = { readonly median: number; readonly min: number; readonly max: number };

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return {
    median: (low + high) / 2,
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
  };
}

/** The median, and the smallest and largest; `format`: the digits behind the point, or how a value is written. */
export function formatSpread(
  { median, min, max }: Spread,
  format: number | ((value: number) => string),
): string {
  const text = typeof format === 'number' ? (value: number) => value.toFixed(format) : format;
  return `${text(median)} (${text(min)}-${text(max)})`;
}
