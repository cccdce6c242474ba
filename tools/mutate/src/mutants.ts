import { createHash } from 'node:crypto';

import type { Expression } from 'oxc-parser';

import { changesOf } from './changes.ts';
import type { Change } from './changes.ts';
import { childrenOf, parse } from './syntax.ts';
import type { SyntaxNode } from './syntax.ts';

/** A place at which an instrumented file reports that it was reached (`instrument.ts`). */
export type Probe = {
  readonly start: number;
  readonly end: number;
  /** In a list of statements, alone where one statement is allowed, or the body of an arrow function. */
  readonly kind: 'listed' | 'alone' | 'expression';
};

export type Mutant = Change & {
  /** Follows from the file's path and the lines before and after: lines that come in above do not change it. */
  readonly id: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly line: number;
  /** The lines that change, without their indentation. */
  readonly from: string;
  readonly to: string;
  /** Which of the file's probes is reached when the changed code is. */
  readonly probe: number;
};

export type FileMutants = {
  readonly mutants: readonly Mutant[];
  readonly probes: readonly Probe[];
};

/** Every mutant of a file, in the order of the source. */
export function mutantsOf(file: string, source: string): FileMutants {
  const changes: (Change & { readonly probe: number })[] = [];
  const probes: Probe[] = [];
  const visit = (node: SyntaxNode, parents: readonly SyntaxNode[], probe: number): void => {
    let own = probe;
    const kind = probeKind(node, parents.at(-1));
    if (kind !== null) {
      probes.push({ start: node.start, end: node.end, kind });
      own = probes.length - 1;
    }
    for (const change of changesOf(node, parents, source)) changes.push({ ...change, probe: own });
    const within = [...parents, node];
    for (const child of childrenOf(node)) visit(child, within, own);
  };
  const program = parse(file, source);
  for (const statement of childrenOf(program)) visit(statement, [program], -1);
  changes.sort((one, other) => one.start - other.start || one.end - other.end);
  return { mutants: identified(file, source, changes), probes };
}

const LISTS = new Set(['Program', 'BlockStatement', 'StaticBlock', 'SwitchCase']);
const BODIES = new Set([
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
]);

function probeKind(node: SyntaxNode, parent: SyntaxNode | undefined): Probe['kind'] | null {
  if (parent === undefined) return null;
  if (parent.type === 'ArrowFunctionExpression') {
    const { body } = parent as SyntaxNode & { body: Expression };
    return node === body && node.type !== 'BlockStatement' ? 'expression' : null;
  }
  if (!/(?:Statement|Declaration)$/.test(node.type) || node.type === 'BlockStatement') return null;
  if (LISTS.has(parent.type)) return 'listed';
  const isAlone =
    parent.type === 'IfStatement' ||
    (BODIES.has(parent.type) && (parent as SyntaxNode & { body: SyntaxNode }).body === node);
  return isAlone ? 'alone' : null;
}

function identified(
  file: string,
  source: string,
  changes: readonly (Change & { readonly probe: number })[],
): readonly Mutant[] {
  const seen = new Map<string, number>();
  return changes.map((change) => {
    const lines = changedLines(source, change);
    const key = [file, lines.from, lines.to].join('\n');
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    const id = createHash('sha256').update(`${key}\n${before}`).digest('hex').slice(0, 8);
    const line = source.slice(0, change.start).split('\n').length;
    return { ...change, ...lines, id, file, line };
  });
}

/** The whole file with the change in it. */
export function mutated(source: string, { start, end, text }: Change): string {
  return source.slice(0, start) + text + source.slice(end);
}

function changedLines(source: string, change: Change): { from: string; to: string } {
  const first = source.lastIndexOf('\n', change.start - 1) + 1;
  const after = source.indexOf('\n', change.end);
  const last = after === -1 ? source.length : after;
  const to = source.slice(first, change.start) + change.text + source.slice(change.end, last);
  return { from: withoutIndentation(source.slice(first, last)), to: withoutIndentation(to) };
}

function withoutIndentation(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}
