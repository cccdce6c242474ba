import type { SyntaxNode } from './syntax.ts';

/** The text between two offsets of a file is replaced. */
export type Change = {
  readonly kind: ChangeKind;
  readonly start: number;
  readonly end: number;
  readonly text: string;
};

export type ChangeKind =
  | 'comparison'
  | 'condition'
  | 'logic'
  | 'arithmetic'
  | 'fallback'
  | 'statement'
  | 'guard'
  | 'return'
  | 'entry'
  | 'await'
  | 'boolean'
  | 'number'
  | 'text';

type Changes = readonly Change[];
/** Parents from the outermost to the nearest. */
type Rule = (node: SyntaxNode, parents: readonly SyntaxNode[], source: string) => Changes;

/** The small changes that can be made at a node itself, without those in what it holds. */
export function changesOf(
  node: SyntaxNode,
  parents: readonly SyntaxNode[],
  source: string,
): Changes {
  return RULES[node.type]?.(node, parents, source) ?? [];
}

const OPERATORS: Readonly<Record<string, readonly [ChangeKind, ...string[]]>> = {
  '===': ['comparison', '!=='],
  '!==': ['comparison', '==='],
  '<': ['comparison', '<=', '>='],
  '<=': ['comparison', '<', '>'],
  '>': ['comparison', '>=', '<='],
  '>=': ['comparison', '>', '<'],
  '+': ['arithmetic', '-'],
  '-': ['arithmetic', '+'],
  '*': ['arithmetic', '/'],
  '/': ['arithmetic', '*'],
  '%': ['arithmetic', '*'],
  '&': ['arithmetic', '|'],
  '|': ['arithmetic', '&'],
  '<<': ['arithmetic', '>>'],
  '>>': ['arithmetic', '<<'],
  '>>>': ['arithmetic', '<<'],
  '&&': ['logic', '||'],
  '||': ['logic', '&&'],
  '+=': ['arithmetic', '-='],
  '-=': ['arithmetic', '+='],
};

const RULES: Readonly<Record<string, Rule>> = {
  BinaryExpression: operator,
  AssignmentExpression: operator,
  LogicalExpression: (node, parents, source) => {
    const { left, right, operator: sign } = node as Binary;
    if (sign !== '??') return operator(node, parents, source);
    return [
      replaced('fallback', node, textOf(left, source)),
      replaced('fallback', node, textOf(right, source)),
    ];
  },
  UpdateExpression: (node, _, source) => {
    const text = textOf(node, source);
    const other = text.includes('++') ? text.replace('++', '--') : text.replace('--', '++');
    return [replaced('arithmetic', node, other)];
  },
  UnaryExpression: (node, _, source) => {
    const { operator: sign, argument } = node as SyntaxNode & Operand & { operator: string };
    if (sign === '!') return [replaced('condition', node, textOf(argument, source))];
    return sign === '-' ? [replaced('arithmetic', node, textOf(argument, source))] : [];
  },
  IfStatement: (node, _, source) => [...negated(node, source), ...guard(node)],
  ConditionalExpression: (node, _, source) => negated(node, source),
  WhileStatement: (node, _, source) => negated(node, source),
  ExpressionStatement: (node) => (hasEffect(node) ? gone(node) : []),
  ThrowStatement: gone,
  ArrowFunctionExpression: earlyReturn,
  FunctionDeclaration: earlyReturn,
  FunctionExpression: earlyReturn,
  ArrayExpression: (node, _, source) =>
    entries((node as SyntaxNode & { elements: readonly (SyntaxNode | null)[] }).elements, source),
  ObjectExpression: (node, _, source) =>
    entries((node as SyntaxNode & { properties: readonly SyntaxNode[] }).properties, source),
  AwaitExpression: (node, _, source) => [
    replaced('await', node, textOf((node as SyntaxNode & Operand).argument, source)),
  ],
  Literal: literal,
  TemplateLiteral: (node, parents) =>
    parents.at(-1)?.type === 'TaggedTemplateExpression' || isOfBug(parents)
      ? []
      : [replaced('text', node, "''")],
};

type Binary = SyntaxNode & {
  readonly left: SyntaxNode;
  readonly right: SyntaxNode;
  readonly operator: string;
};
type Operand = { readonly argument: SyntaxNode };

function operator(node: SyntaxNode, _: readonly SyntaxNode[], source: string): Changes {
  const { left, right, operator: sign } = node as Binary;
  const [kind, ...others] = OPERATORS[sign] ?? [];
  // Text that is put together has no other operator.
  if (kind === undefined || (sign.startsWith('+') && (isText(left) || isText(right)))) return [];
  const start = source.indexOf(sign, left.end);
  return others.map((text) => ({ kind, start, end: start + sign.length, text }));
}

function isText(node: SyntaxNode): boolean {
  if (node.type === 'TemplateLiteral') return true;
  if (node.type === 'BinaryExpression') {
    const { left, right, operator: sign } = node as Binary;
    return sign === '+' && (isText(left) || isText(right));
  }
  return node.type === 'Literal' && 'value' in node && typeof node.value === 'string';
}

function negated(node: SyntaxNode, source: string): Changes {
  const { test } = node as SyntaxNode & { test: SyntaxNode };
  // These have a change of their own that means the same.
  if (test.type === 'UnaryExpression') return [];
  if (test.type === 'BinaryExpression' && /^[!=]==$/.test((test as Binary).operator)) return [];
  return [replaced('condition', test, `!(${textOf(test, source)})`)];
}

const LEAVING = new Set([
  'ReturnStatement',
  'ThrowStatement',
  'ContinueStatement',
  'BreakStatement',
]);

/** A condition under which the code behind it is not reached. */
function guard(node: SyntaxNode): Changes {
  const { consequent, alternate } = node as SyntaxNode & {
    consequent: SyntaxNode;
    alternate: SyntaxNode | null;
  };
  return alternate === null && LEAVING.has(consequent.type) ? [replaced('guard', node, ';')] : [];
}

function gone(node: SyntaxNode): Changes {
  return [replaced('statement', node, ';')];
}

/** A directive is no statement, and `a satisfies never` is for the types alone. */
function hasEffect(node: SyntaxNode): boolean {
  const { directive, expression } = node as SyntaxNode & {
    directive?: string | null;
    expression: SyntaxNode;
  };
  return (directive ?? null) === null && expression.type !== 'TSSatisfiesExpression';
}

function earlyReturn(node: SyntaxNode): Changes {
  const { body } = node as SyntaxNode & { body: (SyntaxNode & { body: unknown }) | null };
  if (body?.type !== 'BlockStatement' || !Array.isArray(body.body) || body.body.length < 2) {
    return [];
  }
  const start = body.start + 1;
  return [{ kind: 'return', start, end: start, text: ' return;' }];
}

function entries(nodes: readonly (SyntaxNode | null)[], source: string): Changes {
  return nodes.flatMap((node, index) => {
    if (node === null) return [];
    const next = nodes[index + 1];
    const previous = nodes[index - 1];
    if (next !== undefined && next !== null) {
      return [{ kind: 'entry', start: node.start, end: next.start, text: '' } as const];
    }
    // The comma behind the last entry may stay, the one before it too: neither makes a hole.
    const start = previous === undefined || previous === null ? node.start : previous.end;
    const comma = /^\s*,/.exec(source.slice(node.end))?.[0].length ?? 0;
    return [{ kind: 'entry', start, end: node.end + comma, text: '' } as const];
  });
}

function literal(node: SyntaxNode, parents: readonly SyntaxNode[], source: string): Changes {
  const parent = parents.at(-1);
  if (parent === undefined || isName(node, parent)) return [];
  const { value } = node as SyntaxNode & { value: unknown };
  switch (typeof value) {
    case 'boolean':
      return [replaced('boolean', node, `${!value}`)];
    case 'number':
      return [replaced('number', node, value === 1 ? '0' : `${value + 1}`)];
    case 'string':
      if (isOfBug(parents)) return [];
      return [replaced('text', node, value === '' ? "'changed'" : "''")];
    default:
      return 'regex' in node ? pattern(node, source) : [];
  }
}

/** Of a property, a module or a directive, which is no value. */
function isName(node: SyntaxNode, parent: SyntaxNode): boolean {
  if (parent.type === 'ExpressionStatement') return true;
  if (parent.type === 'ImportExpression' || parent.type.startsWith('Export')) return true;
  return 'key' in parent && parent.key === node && !('computed' in parent && parent.computed);
}

/** `new Error('text')`: what a bug in our own code would say, which cannot be provoked. */
function isOfBug(parents: readonly SyntaxNode[]): boolean {
  const nearest = parents.findLast(({ type }) => !/^(?:Template|Binary|Parenthesized)/.test(type));
  if (nearest?.type !== 'NewExpression') return false;
  const { callee } = nearest as SyntaxNode & { callee: SyntaxNode & { name?: string } };
  return callee.name === 'Error' || callee.name === 'TypeError' || callee.name === 'RangeError';
}

/** An anchor of a regular expression goes. */
function pattern(node: SyntaxNode, source: string): Changes {
  const text = textOf(node, source);
  const changes: Change[] = [];
  if (text.startsWith('/^')) changes.push(replaced('text', node, `/${text.slice(2)}`));
  const end = /\$\/[a-z]*$/.exec(text);
  if (end !== null && text[end.index - 1] !== '\\') {
    changes.push(replaced('text', node, text.slice(0, end.index) + text.slice(end.index + 1)));
  }
  return changes.filter((change) => !change.text.startsWith('//'));
}

function replaced(kind: ChangeKind, node: SyntaxNode, text: string): Change {
  return { kind, start: node.start, end: node.end, text };
}

function textOf(node: SyntaxNode, source: string): string {
  return source.slice(node.start, node.end);
}
