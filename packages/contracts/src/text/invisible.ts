/**
 * Characters of which a person sees nothing, or something else than what a program reads: the one table for approvals,
 * prompts, diffs, paths and receipts (B16).
 *
 * 1. The rule is by Unicode property, so that it holds for characters that nobody thought of: what is ignored when it
 *    is drawn, white space but the blank itself, controls, formats, private and unassigned code points, lone
 *    surrogates. Braille's empty pattern is added: it is drawn as a blank, and no property says so.
 * 2. In a path, a command or a name each of them is shown. In prose they stay where the rules of Unicode for emoji
 *    and scripts want them, so that a family, Persian and Hindi can be read: a joiner between the parts of an emoji, a
 *    joiner between letters of a script that is written with joiners, a variation selector behind what it selects of.
 * 3. A run of them is shown: no rule wants a second one, but the joiner behind the selector of an emoji.
 */

const UNSEEN_CLASS = String.raw`[[\p{C}\p{Default_Ignorable_Code_Point}\p{White_Space}\u2800]--[\u0020]]`;
const UNSEEN = new RegExp(UNSEEN_CLASS, 'gv');
/** Almost every text has none, and is done with this. */
const ONLY_ASCII = /^[\u0020-\u007e]*$/;

/** Scripts whose letters join or not by a joiner between them. */
const JOINING = String.raw`[\p{scx=Arab}\p{scx=Syrc}\p{scx=Mong}\p{scx=Nkoo}\p{scx=Mand}\p{scx=Mani}\p{scx=Phag}\p{scx=Rohg}\p{scx=Adlm}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}]`;
const JOINING_LETTER = String.raw`[[\p{L}\p{M}]&&${JOINING}]`;

const EMOJI_PART = String.raw`(?:\p{Emoji_Modifier_Base}\p{Emoji_Modifier}|\p{Extended_Pictographic}[\ufe0e\ufe0f]?)`;
/** What stays in prose although it is unseen, with the seen characters of an emoji around it. */
const WANTED = [
  String.raw`${EMOJI_PART}(?:\u200d${EMOJI_PART})+`,
  String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]`,
  String.raw`[0-9#*]\ufe0f\u20e3`,
  String.raw`(?<=${JOINING_LETTER})[\u200c\u200d](?=${JOINING_LETTER})`,
  String.raw`(?<=\p{Unified_Ideograph})[\ufe00-\ufe02\u{e0100}-\u{e01ef}](?!${UNSEEN_CLASS})`,
  String.raw`(?<=[\p{L}&&\p{scx=Mong}])[\u180b-\u180d\u180f](?!${UNSEEN_CLASS})`,
].join('|');
const WANTED_OR_UNSEEN = new RegExp(`(?<wanted>${WANTED})|${UNSEEN_CLASS}`, 'gv');

/** How an unseen character is shown. */
export type ShowCharacter = (character: string) => string;

/** As `\u{200b}`. */
export function showAsEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A path, a command or a name with everything in it to be seen. */
export function visibleName(name: string, show: ShowCharacter = showAsEscape): string {
  return ONLY_ASCII.test(name) ? name : name.replaceAll(UNSEEN, show);
}

/** Text of a person, a model or a file, with everything in it to be seen that no script and no emoji wants there. */
export function visibleProse(text: string, show: ShowCharacter = showAsEscape): string {
  if (ONLY_ASCII.test(text)) return text;
  return text.replaceAll(WANTED_OR_UNSEEN, (found, wanted: string | undefined) =>
    wanted === undefined ? show(found) : found,
  );
}

/** A name as a JSON text that says every character of it, and gives the name when it is parsed. */
export function quotedName(name: string): string {
  return JSON.stringify(name).replaceAll(UNSEEN, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

const BLOCK_SIZE = 256;
/** By the code point's block: whether each of it is ignored when it is drawn. Blocks are looked up once. */
const ignoredBlocks = new Map<number, readonly boolean[]>();
const IGNORED = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u2800]/v;

/** Whether a code point is drawn as nothing, or decides how others are drawn. Fast enough for each one of a file. */
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
