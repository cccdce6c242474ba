/** C0, DEL, C1, line and paragraph separators, bidi controls, invisible and tag characters, lone surrogates. */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- control characters are what is escaped
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

/** A text with nothing in it that a terminal would act on or that could pass for another line. */
export function escapeForTerminal(text: string): string {
  return text.replaceAll(
    UNSAFE,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
