import type { Probe } from './mutants.ts';

/** The set of a process that instrumented files put what was reached into: `<file>#<number of the probe>`. */
export const REACHED = '__orionMutateReached';

/** The file, each of whose probes says that it was reached. No line of it moves. */
export function instrument(file: string, source: string, probes: readonly Probe[]): string {
  const inserted = probes.flatMap(({ start, end, kind }, number) => {
    const call = `globalThis.${REACHED}?.add(${JSON.stringify(`${file}#${number}`)})`;
    switch (kind) {
      case 'listed':
        return [{ at: start, depth: start - end, text: `${call};` }];
      case 'alone':
        return [
          { at: start, depth: start - end, text: `{${call};` },
          { at: end, depth: end - start, text: '}' },
        ];
      case 'expression':
        return [
          { at: start, depth: start - end, text: `(${call},` },
          { at: end, depth: end - start, text: ')' },
        ];
    }
  });
  // Where several begin at one offset the widest comes first, where several end there the narrowest.
  inserted.sort((one, other) => one.at - other.at || one.depth - other.depth);
  let text = '';
  let from = 0;
  for (const { at, text: added } of inserted) {
    text += source.slice(from, at) + added;
    from = at;
  }
  return text + source.slice(from);
}
