import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { parseSync } from 'oxc-parser';
import type { Program, Statement } from 'oxc-parser';

/** One declaration and its position; `name` is its name within the file. */
type Declared = { readonly file: string; readonly name: string; readonly statement: Statement };

/** An exported name. Null if it belongs to another package, whose report has it. */
type Exported = { readonly name: string; readonly declared: Declared | null };

/**
 * What a package lets others use, read from the declarations that its build has made: every exported name of its
 * entry with its whole declaration, and behind them those that have no name outside but are part of one that has,
 * sorted by name. Comments, order and place of a declaration are not part of it.
 */
export function reportOf(entry: string): string {
  const parsed: ParsedFiles = new Map();
  const exported = exportsOf(entry, parsed);
  const shown = new Set(
    exported.flatMap(({ declared }) => (declared === null ? [] : [keyOf(declared)])),
  );
  const within = new Map<string, Declared>();
  const waiting = exported.flatMap(({ declared }) => (declared === null ? [] : [declared]));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const used of usedBy(next, parsed)) {
      const key = keyOf(used);
      if (shown.has(key) || within.has(key)) continue;
      within.set(key, used);
      waiting.push(used);
    }
  }
  const textsOf = (entries: readonly (readonly [string, string])[]): readonly string[] =>
    entries
      .toSorted(([one, first], [other, second]) => compare(one, other) || compare(first, second))
      .map(([, text]) => text);
  const parts = textsOf(exported.map((each) => [each.name, exportText(each, parsed)]));
  const hidden = textsOf([...within.values()].map((each) => [each.name, textOf(each, parsed)]));
  if (hidden.length === 0) return parts.join('\n\n');
  return [...parts, '// Without a name of their own outside:', ...hidden].join('\n\n');
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function keyOf({ file, name }: Declared): string {
  return `${file}#${name}`;
}

function exportText({ name, declared }: Exported, parsed: ParsedFiles): string {
  if (declared === null) return `export { ${name} };`;
  const renamed = declared.name === name ? '' : `// exported as ${name}\n`;
  return `${renamed}${textOf(declared, parsed)}`;
}

type Parsed = { readonly source: string; readonly body: readonly Statement[] };
type ParsedFiles = Map<string, Parsed>;

function exportsOf(file: string, parsed: ParsedFiles): readonly Exported[] {
  const { source, body } = parse(file, parsed);
  return body.flatMap((statement): readonly Exported[] => {
    switch (statement.type) {
      case 'ExportAllDeclaration': {
        const from = declarationsOf(file, statement.source.value);
        return from === null ? [] : exportsOf(from, parsed);
      }
      case 'ExportNamedDeclaration': {
        const { source: from, declaration, specifiers } = statement;
        if (declaration !== null && declaration !== undefined) {
          const name = nameOf(declaration);
          return [{ name, declared: { file, name, statement } }];
        }
        return specifiers.map((specifier) => {
          const name = textAt(source, specifier.exported);
          const local = textAt(source, specifier.local);
          if (from === null) return { name, declared: findLocal(file, local, parsed) };
          return { name, declared: findExport(declarationsOf(file, from.value), local, parsed) };
        });
      }
      default:
        return [];
    }
  });
}

function findExport(file: string | null, name: string, parsed: ParsedFiles): Declared | null {
  if (file === null) return null;
  const found = exportsOf(file, parsed).find((exported) => exported.name === name);
  if (found === undefined) throw new Error(`${file} does not export ${name}`);
  return found.declared;
}

/** Null if it is declared by another package or by the language. */
function findLocal(file: string, name: string, parsed: ParsedFiles): Declared | null {
  const { source, body } = parse(file, parsed);
  for (const statement of body) {
    if (statement.type === 'ImportDeclaration') {
      const imported = statement.specifiers.find(
        (specifier) => textAt(source, specifier.local) === name,
      );
      if (imported?.type === 'ImportSpecifier') {
        const from = declarationsOf(file, statement.source.value);
        return findExport(from, textAt(source, imported.imported), parsed);
      }
      continue;
    }
    const declaration =
      statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declaration && nameOf(declaration) === name) return { file, name, statement };
  }
  return null;
}

/** The declarations of this package that one names. */
function usedBy({ file, statement }: Declared, parsed: ParsedFiles): readonly Declared[] {
  const names = new Set<string>();
  collectNames(statement, names);
  return [...names]
    .map((name) => findLocal(file, name, parsed))
    .filter((declared) => declared !== null);
}

/** Every identifier that can refer to a declaration; names of members cannot. */
function collectNames(node: unknown, names: Set<string>): void {
  if (Array.isArray(node)) {
    for (const item of node) collectNames(item, names);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const fields = node as Readonly<Record<string, unknown>>;
  if (fields['type'] === 'Identifier' && typeof fields['name'] === 'string')
    names.add(fields['name']);
  for (const [field, value] of Object.entries(fields)) {
    if (field === 'key' && fields['computed'] !== true) continue;
    if (field === 'right' && fields['type'] === 'TSQualifiedName') continue;
    collectNames(value, names);
  }
}

/** Null for another package. */
function declarationsOf(file: string, from: string): string | null {
  if (!from.startsWith('.')) return null;
  return join(dirname(file), from.replace(/\.(?:ts|js)$/, '.d.ts'));
}

function parse(file: string, parsed: ParsedFiles): Parsed {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const source = readFileSync(file, 'utf8');
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message ?? 'cannot be read'}`);
  const result: Parsed = { source, body: (program satisfies Program).body };
  parsed.set(file, result);
  return result;
}

function nameOf(declaration: object): string {
  if ('id' in declaration) {
    const { id } = declaration as { readonly id: { readonly name?: string } | null };
    if (id?.name !== undefined) return id.name;
  }
  if ('declarations' in declaration) {
    const [first] = (
      declaration as {
        readonly declarations: readonly { readonly id: { readonly name?: string } }[];
      }
    ).declarations;
    if (first?.id.name !== undefined) return first.id.name;
  }
  return '';
}

function textAt(source: string, { start, end }: { start: number; end: number }): string {
  return source.slice(start, end);
}

function textOf({ file, statement }: Declared, parsed: ParsedFiles): string {
  return withoutComments(textAt(parse(file, parsed).source, statement))
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== '')
    .join('\n');
}

/** Comments may change without changing the interface. String literals in declarations contain no comment marks. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(?<!["'`:])\/\/[^\n]*/g, '');
}
