/**
 * What a database can hold of a text, beside the text itself.
 *
 * 1. PostgreSQL refuses `\u0000` in jsonb with 22P05, half a surrogate pair with 22P02, and U+0000 in any text with
 *    22021; each of them becomes U+FFFD, and nothing else changes.
 * 2. An escape is told from an escaped backslash: the six characters `\\u000` and a digit stay what they are.
 */
const REPLACEMENT = '\ufffd';
/** Whole pairs too: which halves are alone is then found out. */
// oxlint-disable-next-line no-control-regex -- the one that no database holds
const UNSTORABLE = /[\u0000\ud800-\udfff]/;
const ESCAPE = /\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|.)/gi;

/** JSON text as `JSON.stringify` writes it, where only what is not well-formed is escaped as a surrogate. */
export function toProjection(json: string): string {
  if (!json.includes('\\u')) return json;
  return json.replaceAll(ESCAPE, (escape) => (escape.length === 6 ? REPLACEMENT : escape));
}

/** A plain text, such as an id, as it is stored and looked up. */
export function toStorableText(text: string): string {
  return UNSTORABLE.test(text) ? text.replaceAll('\u0000', REPLACEMENT).toWellFormed() : text;
}
