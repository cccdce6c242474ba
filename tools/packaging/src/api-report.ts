import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { parseSync } from 'oxc-parser';
import type { Program, Statement } from 'oxc-parser';

/** The declaration of one exported name, without comments. */
type Declared = { readonly name: string; readonly text: string };

/**
 * What a package lets others use, read from the declarations that its build has made: every exported name of its
 * entry with its whole declaration, sorted by name. Comments, order and place of a declaration are not part of it.
 */
export function reportOf(entry: string): string {
  const declared = exportsOf(entry, new Map()).toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  );
  return declared.map(({ text }) => text).join('\n\n');
}

type Parsed = { readonly source: string; readonly body: readonly Statement[] };

function exportsOf(file: string, parsed: Map<string, Parsed>): readonly Declared[] {
  const { source, body } = parse(file, parsed);
  return body.flatMap((statement): readonly Declared[] => {
    switch (statement.type) {
      case 'ExportAllDeclaration':
        return allOf(declarationsOf(file, statement.source.value), parsed);
      case 'ExportNamedDeclaration': {
        const { source: from, declaration, specifiers } = statement;
        if (declaration !== null && declaration !== undefined) {
          return [{ name: nameOf(declaration), text: textOf(source, statement) }];
        }
        return specifiers.map((specifier) => {
          const name = textAt(source, specifier.exported);
          const local = textAt(source, specifier.local);
          const found =
            from === null
              ? findLocal(file, local, parsed)
              : findExport(declarationsOf(file, from.value), local, parsed);
          const renamed = local === name ? '' : `// exported as ${name}\n`;
          return { name, text: `${renamed}${found}` };
        });
      }
      default:
        return [];
    }
  });
}

function allOf(file: string | null, parsed: Map<string, Parsed>): readonly Declared[] {
  return file === null ? [] : exportsOf(file, parsed);
}

function findExport(file: string | null, name: string, parsed: Map<string, Parsed>): string {
  // Another package's own; it stands in that package's report.
  if (file === null) return `export { ${name} };`;
  const found = exportsOf(file, parsed).find((declared) => declared.name === name);
  if (found === undefined) throw new Error(`${file} does not export ${name}`);
  return found.text;
}

function findLocal(file: string, name: string, parsed: Map<string, Parsed>): string {
  const { source, body } = parse(file, parsed);
  for (const statement of body) {
    if (statement.type === 'ImportDeclaration') {
      const imported = statement.specifiers.find(
        (specifier) => textAt(source, specifier.local) === name,
      );
      if (imported !== undefined) {
        return findExport(declarationsOf(file, statement.source.value), name, parsed);
      }
    }
    if (nameOf(statement) === name) return textOf(source, statement);
  }
  return `export { ${name} };`;
}

/** Null for another package. */
function declarationsOf(file: string, from: string): string | null {
  if (!from.startsWith('.')) return null;
  return join(dirname(file), from.replace(/\.(?:ts|js)$/, '.d.ts'));
}

function parse(file: string, parsed: Map<string, Parsed>): Parsed {
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

function textOf(source: string, node: { start: number; end: number }): string {
  return withoutComments(textAt(source, node))
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== '')
    .join('\n');
}

/** Comments may change without a change of the interface. Texts in declarations hold none of these marks. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(?<!["'`:])\/\/[^\n]*/g, '');
}
