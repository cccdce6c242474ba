import type { Tree, TreeCursor } from 'web-tree-sitter';

import type { DefinitionKind, NodeRule, NodeRules } from './languages.ts';

/** More definitions of a file are counted, but not listed. */
export const MAX_LISTED = 1_000;
/** Deeper ones, too. */
export const MAX_DEPTH = 8;
/** A longer signature is cut. */
export const MAX_SIGNATURE = 200;

export type FileDefinitions = {
  /** In the order of the file, such as `12-40 class: class Parser extends Base`; members are indented by two blanks. */
  readonly lines: readonly string[];
  /** Definitions that are not listed. */
  readonly more: number;
  /** Whether the grammar did not understand all of it. */
  readonly hasErrors: boolean;
};

/** Definitions inside of these are local to them. */
const CLOSED: ReadonlySet<DefinitionKind> = new Set(['function', 'method', 'variable']);
/** A function that is a member of one of these is a method. */
const HAS_METHODS: ReadonlySet<DefinitionKind> = new Set(['class', 'impl', 'trait']);
const DECORATIONS: ReadonlySet<string> = new Set([
  'annotation',
  'comment',
  'decorator',
  'marker_annotation',
]);

/** What the first definition in a wrapper begins with. */
type Wrapping = { line: number; index: number; isTaken: boolean };

/** A node whose children are visited. */
type Frame = {
  /** Null in a node that is no definition. */
  readonly kind: DefinitionKind | null;
  readonly wrapping?: Wrapping;
  readonly isExported?: boolean;
};

/**
 * The definitions of a tree, by a walk that takes steps in proportion to its nodes and no stack of its own depth.
 * `source` is the text that was parsed.
 */
export function listDefinitions(tree: Tree, source: string, rules: NodeRules): FileDefinitions {
  const cursor = tree.walk();
  try {
    return new Walk(cursor, source, rules).run(tree.rootNode.hasError);
  } finally {
    cursor.delete();
  }
}

class Walk {
  readonly #cursor: TreeCursor;
  readonly #source: string;
  readonly #rules: NodeRules;
  readonly #lines: string[] = [];
  readonly #frames: Frame[] = [];
  /** The definitions around the node. */
  readonly #around: DefinitionKind[] = [];
  #more = 0;

  constructor(cursor: TreeCursor, source: string, rules: NodeRules) {
    this.#cursor = cursor;
    this.#source = source;
    this.#rules = rules;
  }

  run(hasErrors: boolean): FileDefinitions {
    for (;;) {
      const frame = this.#visit();
      if (frame !== null && this.#cursor.gotoFirstChild()) {
        this.#frames.push(frame);
        if (frame.kind !== null) this.#around.push(frame.kind);
        continue;
      }
      while (!this.#cursor.gotoNextSibling()) {
        const left = this.#frames.pop();
        if (left === undefined) return { lines: this.#lines, more: this.#more, hasErrors };
        if (left.kind !== null) this.#around.pop();
        this.#cursor.gotoParent();
      }
    }
  }

  /** Lists the node if it is a definition. Null where its children are not to be visited. */
  #visit(): Frame | null {
    const { nodeType } = this.#cursor;
    const above = this.#frames.at(-1);
    const rule = this.#ruleOf(nodeType);
    if (rule === undefined) {
      const wrapping = above?.wrapping;
      if (wrapping !== undefined && DECORATIONS.has(nodeType))
        wrapping.index = this.#cursor.endIndex;
      return null;
    }
    const isExport = nodeType === 'export_statement';
    const isExported = isExport || above?.isExported === true;
    const kind = this.#kindOf(rule, isExported);
    if (kind !== null) {
      this.#list(kind, above?.wrapping);
      return CLOSED.has(kind) ? null : { kind };
    }
    if (rule !== 'wrap' && !isExport) return rule === 'enter' ? { kind } : null;
    const { startIndex: index, startPosition } = this.#cursor;
    const wrapping = above?.wrapping ?? { line: startPosition.row, index, isTaken: false };
    return { kind, wrapping, isExported };
  }

  #ruleOf(nodeType: string): NodeRule | undefined {
    if (nodeType === 'ERROR') return 'enter';
    // A keyword may be called like the node that it begins.
    if (!this.#cursor.nodeIsNamed) return undefined;
    return Object.hasOwn(this.#rules, nodeType) ? this.#rules[nodeType] : undefined;
  }

  #kindOf(rule: NodeRule, isExported: boolean): DefinitionKind | null {
    if (rule === 'enter' || rule === 'wrap') return null;
    if (typeof rule !== 'string') {
      if (rule.onlyOutermost === true && this.#around.length > 0) return null;
      const type = this.#cursor.currentNode.childForFieldName(rule.field)?.type ?? '';
      if (Object.hasOwn(rule.of, type)) return rule.of[type] ?? null;
      return rule.otherwise ?? (isExported ? rule.exported : undefined) ?? null;
    }
    const around = this.#around.at(-1);
    const isMember = around !== undefined && HAS_METHODS.has(around);
    return rule === 'function' && isMember ? 'method' : rule;
  }

  #list(kind: DefinitionKind, wrapping: Wrapping | undefined): void {
    const depth = this.#around.length;
    if (this.#lines.length >= MAX_LISTED || depth > MAX_DEPTH) {
      this.#more += 1;
      return;
    }
    let first = this.#cursor.startPosition.row + 1;
    let start = this.#afterDecorations();
    if (wrapping !== undefined && !wrapping.isTaken) {
      wrapping.isTaken = true;
      first = wrapping.line + 1;
      if (start === this.#cursor.startIndex) start = wrapping.index;
    }
    const last = this.#cursor.endPosition.row + 1;
    const range = first === last ? `${first}` : `${first}-${last}`;
    this.#lines.push(`${'  '.repeat(depth)}${range} ${kind}: ${this.#signature(kind, start)}`);
  }

  /** Where the node begins behind its decorators, annotations and comments. */
  #afterDecorations(): number {
    const cursor = this.#cursor;
    let start = cursor.startIndex;
    if (!cursor.gotoFirstChild()) return start;
    do {
      if (cursor.nodeType === 'modifiers') start = Math.max(start, this.#afterDecorations());
      if (!DECORATIONS.has(cursor.nodeType)) break;
      start = cursor.endIndex;
    } while (cursor.gotoNextSibling());
    cursor.gotoParent();
    return start;
  }

  /** What a reader sees before the body, on one line. */
  #signature(kind: DefinitionKind, start: number): string {
    const node = this.#cursor.currentNode;
    const value = node.childForFieldName('value') ?? node.childForFieldName('right') ?? node;
    const body = node.childForFieldName('body') ?? value.childForFieldName('body');
    // Blanks are joined below, so that a few more characters make a whole signature; a hostile one has only blanks.
    const longest = start + 4 * MAX_SIGNATURE;
    const end = body?.startIndex ?? this.#cursor.endIndex;
    let text = this.#source.slice(start, Math.min(end, longest)).trimStart();
    if (body === null && kind !== 'function' && kind !== 'method') text = text.replace(/\n.*/s, '');
    const line = text
      .replaceAll(/\s+/g, ' ')
      .replaceAll('( ', '(')
      .replaceAll(/,? \)/g, ')')
      .replace(/[\s{(=:;,]+$/, '');
    const isCut = line.length > MAX_SIGNATURE || (end > longest && body !== null);
    return isCut ? `${line.slice(0, MAX_SIGNATURE).toWellFormed()}…` : line.toWellFormed();
  }
}
