/**
 * The form of a text that every database can store, kept beside the text itself.
 *
 * 1. PostgreSQL refuses `\u0000` in jsonb with 22P05, half a surrogate pair with 22P02, and U+0000 in any text with
 *    22021. Each of them becomes U+FFFD; nothing else changes.
 * 2. An escape is distinguished from an escaped backslash: the six characters `\\u000` and a digit stay as they are.
 */
const REPLACEMENT = '\ufffd';
/** Also finds whole pairs; which halves are lone is determined afterwards. */
// oxlint-disable-next-line no-control-regex -- the one that no database holds
const UNSTORABLE = /[\u0000\ud800-\udfff]/;
const ESCAPE = /\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|.)/gi;

/** Takes JSON text as `JSON.stringify` writes it, which escapes only lone surrogates. */
export function toProjection(json: string): string {
  if (!json.includes('\\u')) return json;
  return json.replaceAll(ESCAPE, (escape) => (escape.length === 6 ? REPLACEMENT : escape));
}

/** A plain text, such as an id, in the form in which it is stored and looked up. */
export function toStorableText(text: string): string {
  return UNSTORABLE.test(text) ? text.replaceAll('\u0000', REPLACEMENT).toWellFormed() : text;
}
