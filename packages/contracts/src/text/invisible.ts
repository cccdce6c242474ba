/**
 * Invisible characters, and characters that look different from what a program reads: one table for approvals,
 * prompts, diffs, paths and receipts (B16).
 *
 * 1. The rule is based on Unicode properties, so that it covers unforeseen characters: default-ignorable code points,
 *    white space other than U+0020, controls, formats, private and unassigned code points, and lone surrogates. The
 *    empty Braille pattern is added, because it is drawn as a blank but no property says so.
 * 2. In paths, commands and names, each of them is made visible. In prose they are kept where the Unicode rules for
 *    emoji and scripts require them, so that family emoji, Persian and Hindi stay readable: joiners inside an emoji,
 *    joiners between letters of a joining script, and variation selectors after their base.
 * 3. Runs of them are made visible: no rule requires two in a row, except a joiner after the selector of an emoji.
 */

const UNSEEN_CLASS = String.raw`[[\p{C}\p{Default_Ignorable_Code_Point}\p{White_Space}\u2800]--[\u0020]]`;
const UNSEEN = new RegExp(UNSEEN_CLASS, 'gv');
/** A fast path: almost every text has none. */
const ONLY_ASCII = /^[\u0020-\u007e]*$/;

/** Scripts that use joiners between letters. */
const JOINING = String.raw`[\p{scx=Arab}\p{scx=Syrc}\p{scx=Mong}\p{scx=Nkoo}\p{scx=Mand}\p{scx=Mani}\p{scx=Phag}\p{scx=Rohg}\p{scx=Adlm}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}]`;
const JOINING_LETTER = String.raw`[[\p{L}\p{M}]&&${JOINING}]`;

const EMOJI_PART = String.raw`(?:\p{Emoji_Modifier_Base}\p{Emoji_Modifier}|\p{Extended_Pictographic}[\ufe0e\ufe0f]?)`;
/** Invisible characters that are kept in prose, with the visible characters of the emoji around them. */
const WANTED = [
  String.raw`${EMOJI_PART}(?:\u200d${EMOJI_PART})+`,
  String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]`,
  String.raw`[0-9#*]\ufe0f\u20e3`,
  String.raw`(?<=${JOINING_LETTER})[\u200c\u200d](?=${JOINING_LETTER})`,
  String.raw`(?<=\p{Unified_Ideograph})[\ufe00-\ufe02\u{e0100}-\u{e01ef}](?!${UNSEEN_CLASS})`,
  String.raw`(?<=[\p{L}&&\p{scx=Mong}])[\u180b-\u180d\u180f](?!${UNSEEN_CLASS})`,
].join('|');
const WANTED_OR_UNSEEN = new RegExp(`(?<wanted>${WANTED})|${UNSEEN_CLASS}`, 'gv');

/** How an invisible character is shown. */
export type ShowCharacter = (character: string) => string;

/** As `\u{200b}`. */
export function showAsEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A path, a command or a name with every invisible character shown. */
export function visibleName(name: string, show: ShowCharacter = showAsEscape): string {
  return ONLY_ASCII.test(name) ? name : name.replaceAll(UNSEEN, show);
}

/** Text of a user, a model or a file, with every invisible character shown that no script or emoji requires. */
export function visibleProse(text: string, show: ShowCharacter = showAsEscape): string {
  if (ONLY_ASCII.test(text)) return text;
  return text.replaceAll(WANTED_OR_UNSEEN, (found, wanted: string | undefined) =>
    wanted === undefined ? show(found) : found,
  );
}

/** A name as a JSON string in which every invisible character is escaped. */
export function quotedName(name: string): string {
  return JSON.stringify(name).replaceAll(UNSEEN, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

const BLOCK_SIZE = 256;
/** For each block of code points, whether each of them is ignored when drawn. Computed once for each block. */
const ignoredBlocks = new Map<number, readonly boolean[]>();
const IGNORED = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u2800]/v;

/**
 * Whether a code point is invisible or changes how others are drawn. Fast enough to call for each code point of a
 * file.
 */
export function isIgnoredWhenDrawn(codePoint: number): boolean {
  const number = Math.floor(codePoint / BLOCK_SIZE);
  let block = ignoredBlocks.get(number);
  if (block === undefined) {
    block = Array.from({ length: BLOCK_SIZE }, (_, index) =>
      IGNORED.test(String.fromCodePoint(number * BLOCK_SIZE + index)),
    );
    ignoredBlocks.set(number, block);
  }
  return block[codePoint % BLOCK_SIZE] ?? false;
}
