/** HTML as text that is safe by its type: whatever else comes into a template is escaped. */

const MARKUP: unique symbol = Symbol('markup');

export type Html = { readonly [MARKUP]: string };

type Part = string | number | Html | readonly Html[];

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const text = strings.reduce((before, string, index) => {
    const part = parts[index - 1];
    return before + (part === undefined ? '' : markupOf(part)) + string;
  });
  return { [MARKUP]: text };
}

/** Markup that is a constant of this program. */
export function constant(markup: string): Html {
  return { [MARKUP]: markup };
}

export function textOf(markup: Html): string {
  return markup[MARKUP];
}

/** A description: text in backticks is code, an empty line begins a paragraph. */
export function prose(text: string): readonly Html[] {
  return text.split(/\n\s*\n/u).map((paragraph) => html`<p>${inline(paragraph)}</p>`);
}

export function inline(text: string): readonly Html[] {
  return text
    .split(/`([^`]+)`/u)
    .map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
}

export function table(headings: readonly string[], rows: readonly Html[]): Html {
  return html`<table>
    <thead>
      <tr>
        ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function markupOf(part: Part): string {
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part));
  return MARKUP in part ? part[MARKUP] : part.map(textOf).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (character) => ENTITIES[character] ?? '');
}
