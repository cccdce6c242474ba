/**
 * What stands around the words of a message: tokens of chat templates such as `<|im_end|>`, which some servers leave in
 * the text, and the dress of an answer such as `<answer>DONE</answer>` or `\boxed{DONE}`.
 *
 * Invariants
 * D1  Every function takes one line, and its cost is linear.
 * D2  Nothing here removes text from a file, which may contain the same characters.
 */
import { stripIndentation, trimLine } from './lines.ts';

const NAME = '[A-Za-z][\\w▁-]{0,39}';
const TOKENS = [
  `<[|｜]${NAME}[|｜]>`,
  // Gemma, Seed and EXAONE
  `<\\|${NAME}>|<${NAME}\\|>|<seed:[a-z]{1,8}>|\\[\\|${NAME}\\|\\]`,
  '</?s>|<(?:bos|eos)>|<(?:start|end)_of_turn>|\\[/?INST\\]',
  // From models that were trained to put their answer into tags
  '</?(?:final_)?answer>',
].join('|');
const TOKEN = new RegExp(TOKENS, 'gu');
const WHOLE_TOKEN = new RegExp(`^(?:${TOKENS})$`, 'u');
const LONGEST_TOKEN = 48;

/** A line without trailing blanks, without the tokens at its end and the blanks before them. */
export function withoutTokensAtEnd(line: string): string {
  // It closes struck-out text.
  const closing = /<s[ >]/u.test(line) ? '</s>' : null;
  for (let end = line.length; ;) {
    const from = Math.max(0, end - LONGEST_TOKEN);
    const last = line.slice(from, end);
    const open = Math.max(last.lastIndexOf('<'), last.lastIndexOf('['));
    const token = open === -1 ? '' : last.slice(open);
    if (token === closing || !WHOLE_TOKEN.test(token)) return line.slice(0, end);
    end = trimLine(line.slice(0, from + open)).length;
  }
}

/** Such as `</s>`, `<|im_end|>` or `<answer>`: from chat templates, and from models that wrap answers in tags. */
const TAG = /<[|/]?[A-Za-z][\w-]{0,15}[|/]?>/gu;

/** For a line that is a single word with tags around it. */
export function withoutTags(line: string): string {
  return line.replace(TOKEN, '').replace(TAG, '');
}

const ZERO_WIDTH = /[\u200b-\u200d\u2060\ufeff]/gu;
const BOXED =
  /^(?:\${1,2}|\\[([])?[ ]?\\boxed\{(?:\\text\{)?([^{}]{1,40})\}{1,2}[ ]?(?:\${1,2}|\\[)\]])?\.?$/u;
const LABEL = /^(?:(?:my |the )?(?:final )?answer|assistant|model)$/iu;
const LONGEST_LABEL = 32;

/** A line of an answer without what stands around its words; empty if it has none. */
export function undressed(line: string): string {
  const text = trimLine(line.replace(TOKEN, '').replace(ZERO_WIDTH, ''));
  return isLabel(text) ? '' : (BOXED.exec(stripIndentation(text))?.[1] ?? text);
}

/** Whether these words, without a colon, only announce an answer or name who gives it. */
export function isLabel(text: string): boolean {
  return text.length <= LONGEST_LABEL && LABEL.test(text.replace(/^[*_# ]+|[*_ ]+$/gu, ''));
}

/** Whether a line is the head or the end of a message as a template writes it: tokens, or the role that they name. */
export function isTemplateLine(line: string): boolean {
  const text = trimLine(line);
  return text === 'assistant' || (text.search(TOKEN) !== -1 && undressed(text) === '');
}
