/**
 * If `lines` repeat one short run, the lines that would come next, without blank ones; else empty. Linear, by the
 * failure function of the Knuth-Morris-Pratt search.
 */
export function periodOf(lines: readonly string[]): readonly string[] {
  const borders = new Int32Array(lines.length);
  let border = 0;
  for (let index = 1; index < lines.length; index += 1) {
    while (border > 0 && lines[index] !== lines[border]) border = borders[border - 1] ?? 0;
    if (lines[index] === lines[border]) border += 1;
    borders[index] = border;
  }
  const period = lines.length - border;
  if (2 * period > lines.length) return [];
  return lines.slice(lines.length - period).filter((line) => line !== '');
}

const MAX_RUN_PERIOD = 8;
/** Three closing brackets in a row are ordinary code. */
const MIN_RUN = 4;

/** The same for at least four repetitions at the end of `lines`, where models easily lose count. */
export function runPeriodOf(lines: readonly string[]): readonly string[] {
  for (let period = 1; period <= MAX_RUN_PERIOD && MIN_RUN * period <= lines.length; period += 1) {
    const run = lines.slice(lines.length - MIN_RUN * period);
    if (run.every((line, index) => index < period || line === run[index - period]))
      return run.slice(0, period).filter((line) => line !== '');
  }
  return [];
}
