const FIRST_MS = 250;
const LONGEST_MS = 10_000;

/**
 * How long to wait before the next attempt, in milliseconds: twice as long each time, up to 10 s, and by chance up to
 * half of that less, so that many clients do not come back at once. `leastMs` is what the server asked for.
 */
export function pauseBefore(
  attempt: number,
  {
    leastMs = null,
    firstMs = FIRST_MS,
    random = Math.random,
  }: {
    readonly leastMs?: number | null;
    readonly firstMs?: number;
    readonly random?: () => number;
  } = {},
): number {
  const whole = Math.min(LONGEST_MS, firstMs * 2 ** Math.min(attempt - 1, 16));
  return (leastMs ?? 0) + whole * (1 - random() / 2);
}
