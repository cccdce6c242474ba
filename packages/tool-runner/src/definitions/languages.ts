/** Which nodes of a syntax tree are definitions, for each language that can be parsed. */

export type DefinitionKind =
  | 'annotation'
  | 'class'
  | 'constant'
  | 'enum'
  | 'function'
  | 'impl'
  | 'interface'
  | 'macro'
  | 'method'
  | 'module'
  | 'namespace'
  | 'record'
  | 'struct'
  | 'trait'
  | 'type'
  | 'union'
  | 'variable';

/** What a node is by the type of one of its fields: a `const` whose value is a function defines a function. */
export type FieldRule = {
  readonly field: string;
  readonly of: Readonly<Record<string, DefinitionKind>>;
  /** Where no type of `of` fits. */
  readonly otherwise?: DefinitionKind;
  /** Where none fits and the node is exported. */
  readonly exported?: DefinitionKind;
  /** Counts only outside of other definitions. */
  readonly onlyOutermost?: true;
};

/**
 * `enter`: definitions are looked for inside it. `wrap`: the same, and what it begins with, such as `export`, belongs
 * to the first of them.
 */
export type NodeRule = DefinitionKind | 'enter' | 'wrap' | FieldRule;

/** By node type. Nodes of other types are not looked into. */
export type NodeRules = Readonly<Record<string, NodeRule>>;

export type Language = {
  readonly name: string;
  /** Also the end of the name of the file with its grammar. */
  readonly id: LanguageId;
  readonly extensions: readonly string[];
  readonly rules: NodeRules;
};

export type LanguageId = 'go' | 'java' | 'javascript' | 'python' | 'rust' | 'tsx' | 'typescript';

function enter(...types: readonly string[]): NodeRules {
  return Object.fromEntries(types.map((type) => [type, 'enter']));
}

const FUNCTION_VALUES = {
  arrow_function: 'function',
  class: 'class',
  function_expression: 'function',
  generator_function: 'function',
} as const;
const METHOD_VALUES = { arrow_function: 'method', function_expression: 'method' } as const;

const JAVASCRIPT: NodeRules = {
  ...enter('program', 'class_body', 'class'),
  expression_statement: 'wrap',
  lexical_declaration: 'wrap',
  variable_declaration: 'wrap',
  // With a declaration, or `export default` with a value.
  export_statement: { field: 'value', of: FUNCTION_VALUES },
  variable_declarator: { field: 'value', of: FUNCTION_VALUES, exported: 'variable' },
  // `exports.name = function () {}`
  assignment_expression: { field: 'right', of: FUNCTION_VALUES },
  class_declaration: 'class',
  field_definition: { field: 'value', of: METHOD_VALUES },
  function_declaration: 'function',
  generator_function_declaration: 'function',
  method_definition: 'method',
};

const TYPESCRIPT: NodeRules = {
  ...JAVASCRIPT,
  // A block is looked into only as the body of a namespace: functions are not.
  ...enter('statement_block', 'interface_body'),
  ambient_declaration: 'wrap',
  abstract_class_declaration: 'class',
  abstract_method_signature: 'method',
  enum_declaration: 'enum',
  function_signature: 'function',
  interface_declaration: 'interface',
  internal_module: 'namespace',
  method_signature: 'method',
  module: 'namespace',
  public_field_definition: { field: 'value', of: METHOD_VALUES },
  type_alias_declaration: 'type',
};

const PYTHON: NodeRules = {
  ...enter('module', 'block', 'if_statement', 'else_clause', 'elif_clause', 'with_statement'),
  ...enter('try_statement', 'except_clause', 'finally_clause', 'expression_statement'),
  decorated_definition: 'wrap',
  assignment: { field: 'left', of: { identifier: 'variable' }, onlyOutermost: true },
  class_definition: 'class',
  function_definition: 'function',
  type_alias_statement: 'type',
};

const GO: NodeRules = {
  ...enter('source_file', 'type_declaration', 'const_declaration', 'var_declaration'),
  ...enter('var_spec_list', 'interface_type'),
  const_spec: 'constant',
  function_declaration: 'function',
  method_declaration: 'method',
  method_elem: 'method',
  type_alias: 'type',
  type_spec: {
    field: 'type',
    of: { struct_type: 'struct', interface_type: 'interface' },
    otherwise: 'type',
  },
  var_spec: 'variable',
};

const RUST: NodeRules = {
  ...enter('source_file', 'declaration_list', 'foreign_mod_item'),
  const_item: 'constant',
  enum_item: 'enum',
  function_item: 'function',
  function_signature_item: 'function',
  impl_item: 'impl',
  macro_definition: 'macro',
  mod_item: 'module',
  static_item: 'variable',
  struct_item: 'struct',
  trait_item: 'trait',
  type_item: 'type',
  union_item: 'union',
};

const JAVA: NodeRules = {
  ...enter('program', 'class_body', 'interface_body', 'enum_body', 'enum_body_declarations'),
  ...enter('annotation_type_body'),
  annotation_type_declaration: 'annotation',
  annotation_type_element_declaration: 'method',
  class_declaration: 'class',
  compact_constructor_declaration: 'method',
  constructor_declaration: 'method',
  enum_declaration: 'enum',
  interface_declaration: 'interface',
  method_declaration: 'method',
  record_declaration: 'record',
};

export const LANGUAGES: readonly Language[] = [
  { name: 'TypeScript', id: 'typescript', extensions: ['ts', 'mts', 'cts'], rules: TYPESCRIPT },
  { name: 'TSX', id: 'tsx', extensions: ['tsx'], rules: TYPESCRIPT },
  {
    name: 'JavaScript',
    id: 'javascript',
    extensions: ['js', 'mjs', 'cjs', 'jsx'],
    rules: JAVASCRIPT,
  },
  { name: 'Python', id: 'python', extensions: ['py', 'pyi'], rules: PYTHON },
  { name: 'Go', id: 'go', extensions: ['go'], rules: GO },
  { name: 'Rust', id: 'rust', extensions: ['rs'], rules: RUST },
  { name: 'Java', id: 'java', extensions: ['java'], rules: JAVA },
];

const BY_EXTENSION: ReadonlyMap<string, Language> = new Map(
  LANGUAGES.flatMap((language) => language.extensions.map((each) => [each, language])),
);

/** By the end of its name; undefined where it is none of these. */
export function languageOf(path: string): Language | undefined {
  const [, extension = ''] = /\.([^./]+)$/.exec(path) ?? [];
  return BY_EXTENSION.get(extension.toLowerCase());
}
