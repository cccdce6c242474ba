/** Schemas in words. */
import { html, inline, table } from './html.ts';
import type { Html } from './html.ts';

/** The keywords of JSON Schema that the document uses. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
};

const REFERENCE = '#/components/schemas/';
/** More values are for those who read the document itself. */
const LISTED_VALUES = 12;

export function nameOf({ $ref = '' }: Schema): string | null {
  return $ref.startsWith(REFERENCE) ? $ref.slice(REFERENCE.length) : null;
}

/** What a value is: a type with its bounds, a link, or a choice of these. */
export function typeText(schema: Schema): Html {
  const name = nameOf(schema);
  if (name !== null) return html`<a href="#schema-${name}">${name}</a>`;
  const choices = schema.oneOf ?? schema.anyOf ?? schema.allOf;
  if (choices !== undefined) return joined(choices.map(typeText), schema.allOf ? ' and ' : ' or ');
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum !== undefined) return valuesText(schema.enum);
  if (schema.items !== undefined)
    return html`array of ${typeText(schema.items)}${boundsText(schema, 'Items')}`;
  if (schema.properties !== undefined) return html`object`;
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['anything']);
  return html`${types.join(' or ')}${boundsText(schema, types.includes('string') ? 'Length' : null)}`;
}

function valuesText(values: readonly unknown[]): Html {
  const shown = values
    .slice(0, LISTED_VALUES)
    .map((each) => html`<code>${JSON.stringify(each)}</code>`);
  const more = values.length - shown.length;
  return html`${joined(shown, ' | ')}${more === 0 ? '' : ` and ${more} more`}`;
}

function boundsText(schema: Schema, kind: 'Items' | 'Length' | null): string {
  const least = kind === null ? schema.minimum : schema[`min${kind}`];
  const most = kind === null ? schema.maximum : schema[`max${kind}`];
  const unit = kind === 'Length' ? ' characters' : '';
  if (most !== undefined && most < Number.MAX_SAFE_INTEGER)
    return `, ${least ?? 0} to ${most}${unit}`;
  return least === undefined || least === Number.MIN_SAFE_INTEGER ? '' : `, from ${least}${unit}`;
}

/** The fields of an object, those of its inner objects below it. */
export function fieldsTable(schema: Schema): Html {
  const rows = rowsOf(schema, '');
  return rows.length === 0 ? html`` : table(['field', 'type', ''], rows);
}

function rowsOf(schema: Schema, before: string): readonly Html[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const isRequired = schema.required?.includes(name) === true;
    const path = `${before}${name}`;
    const inner = field.items ?? field;
    const below = rowsOf(inner, `${path}${field.items === undefined ? '.' : '[].'}`);
    return [
      html`<tr>
        <td><code>${path}</code>${isRequired ? '' : html`<small> optional</small>`}</td>
        <td>${typeText(field)}</td>
        <td>${noteText(field)}</td>
      </tr>`,
      ...below,
    ];
  });
}

export function noteText(schema: Schema): Html {
  const standard =
    schema.default === undefined
      ? html``
      : html` Standard: <code>${JSON.stringify(schema.default)}</code>.`;
  return html`${inline(schema.description ?? '')}${standard}`;
}

function joined(parts: readonly Html[], between: string): Html {
  return html`${parts.flatMap((part, index) => (index === 0 ? [part] : [html`${between}`, part]))}`;
}
