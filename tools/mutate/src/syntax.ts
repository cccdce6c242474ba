import { parseSync } from 'oxc-parser';
import type { Program } from 'oxc-parser';

/** A node of the syntax tree, as far as a walk needs to know it. */
export type SyntaxNode = { readonly type: string; readonly start: number; readonly end: number };

/** Rarely the changed file cannot: `a ?? (b || c)` without its parentheses, say. */
export function canBeParsed(file: string, source: string): boolean {
  return parseSync(file, source).errors.length === 0;
}

export function parse(file: string, source: string): Program {
  const { program, errors } = parseSync(file, source);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  return program;
}

/** Types have nothing that runs; what they are written around has. */
const AROUND_EXPRESSIONS = new Set([
  'TSAsExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
]);

const WITHOUT_CODE = new Set(['ImportDeclaration', 'ExportAllDeclaration']);

export function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const values: readonly unknown[] = Object.values(node).flat();
  return values
    .filter(isNode)
    .filter(
      ({ type }) =>
        (!type.startsWith('TS') || AROUND_EXPRESSIONS.has(type)) && !WITHOUT_CODE.has(type),
    );
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
