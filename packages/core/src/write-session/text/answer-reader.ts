/**
 * Reads a reply to a question as people write answers (R270): decorated, doubled, with a word before or after it.
 *
 * Invariants
 * A1  The reading depends on the reply alone, not on how it was divided.
 * A2  Only an offered choice is an answer, and only if everything else in the reply is talk, or tokens and labels.
 * A3  Memory is bounded by `HELD_LIMIT` and one more text; once `canStillBeAnswer` is false it stays false.
 * A4  A reply that starts with the anchor continues the file, whatever it ends with.
 */
import { inkEndOf, inkStartOf, isBlankCode } from '@orion/contracts';
import { isLabel, undressed, withoutTags } from './chat-tokens.ts';
import { isBlankLine, isChatLine, parseFenceLine, stripIndentation, trimLine } from './lines.ts';
import type { Anchor } from './seams/anchor.ts';

export type AnswerOffer = {
  /** `DONE`, `KEEP`, `STRIP`, `DROP`, `AGAIN` or `END` with a line number. */
  readonly choices: readonly string[];
  /** The session's own end marker, such as `DONE 7f3a`. */
  readonly endMarker: string;
  /** Only the end marker stands for `DONE`. */
  readonly strict: boolean;
  /** Null if nothing is saved that a reply could repeat. */
  readonly anchor: Anchor | null;
};

export type ReplyReading =
  | {
      readonly kind: 'answer';
      /** As it was offered. */
      readonly choice: string;
      /** Whether it was written in lower case; offers are in upper case. */
      readonly isLowerCase: boolean;
      /** The other lines. */
      readonly talk: string;
    }
  /** Empty, only talk, different answers, or a word that was not offered. */
  | { readonly kind: 'unclear' }
  /** A message like any other. */
  | { readonly kind: 'text' };

export type AnswerReader = {
  readonly offer: AnswerOffer;
  readonly held: string;
  /** Where the unfinished line begins in `held`. */
  readonly lineStart: number;
  /** The end of the last non-blank character in `held`. */
  readonly inkEnd: number;
  readonly said: Said;
  readonly isText: boolean;
};

/** What the whole lines so far contain. */
type Said = {
  readonly answers: readonly Word[];
  /** The other lines, unchanged, with the blank lines between them. */
  readonly talk: string;
  readonly talkLines: number;
  readonly talkLength: number;
  /** The last of them if no answer has followed; else empty. */
  readonly lastTalk: string;
  readonly fences: number;
};

type Word = {
  readonly choice: string;
  /** Whether it may just end the message, as any marker may. */
  readonly isMarker: boolean;
  /** Written in upper case, as it was offered. */
  readonly isExact: boolean;
  readonly isLowerCase: boolean;
};

const MAX_TALK_LINES = 3;
const MAX_TALK_LENGTH = 600;
/** More than anyone writes to answer once. */
const MAX_ANSWERS = 8;
const MAX_FENCES = 2;
/** Longer than any line of talk with its decoration. */
const LINE_LIMIT = 640;
/** Includes blanks around the answer, since the whole reply is held in memory. */
const HELD_LIMIT = 16_384;

const NOTHING_SAID: Said = {
  answers: [],
  talk: '',
  talkLines: 0,
  talkLength: 0,
  lastTalk: '',
  fences: 0,
};

export function createAnswerReader(offer: AnswerOffer): AnswerReader {
  return { offer, held: '', lineStart: 0, inkEnd: 0, said: NOTHING_SAID, isText: false };
}

export function readAnswer(reader: AnswerReader, text: string): AnswerReader {
  const held = reader.held + text;
  if (reader.isText || held.length > HELD_LIMIT) return { ...reader, held, isText: true };
  let { lineStart, said } = reader;
  let lineEnd = held.indexOf('\n', reader.held.length);
  while (lineEnd !== -1) {
    const line = held.slice(lineStart, lineEnd);
    const more = withLine(reader.offer, said, line);
    if (more === null) return { ...reader, held, isText: true };
    if (!isBlankLine(line) && startsWithAnchor(held.slice(0, lineEnd), reader.offer.anchor))
      return { ...reader, held, isText: true };
    said = more;
    lineStart = lineEnd + 1;
    lineEnd = held.indexOf('\n', lineStart);
  }
  let end = held.length;
  while (end > reader.held.length && isBlankCode(held.charCodeAt(end - 1))) end -= 1;
  if (end === reader.held.length) end = reader.inkEnd;
  return { ...reader, held, lineStart, inkEnd: end, said, isText: end - lineStart > LINE_LIMIT };
}

/** Whether the reply so far can become an answer. While it can, it is held and is not content. */
export function canStillBeAnswer(reader: AnswerReader): boolean {
  return !reader.isText;
}

/** The meaning of the whole reply. */
export function endAnswer(reader: AnswerReader): ReplyReading {
  if (reader.isText) return { kind: 'text' };
  const { offer, held } = reader;
  const said = withLine(offer, reader.said, held.slice(reader.lineStart));
  if (said === null || startsWithAnchor(held, offer.anchor)) return { kind: 'text' };
  const [first, ...others] = withoutEnding(said.answers);
  if (first === undefined || !offer.choices.includes(first.choice)) return { kind: 'unclear' };
  if (others.some((other) => other.choice !== first.choice)) return { kind: 'unclear' };
  const isWhole = said.talkLines === 0;
  if (!isWhole && ![first, ...others].every((word) => word.isExact)) return { kind: 'unclear' };
  return {
    kind: 'answer',
    choice: first.choice,
    isLowerCase: first.isLowerCase,
    talk: withoutBlankEnd(said.talk),
  };
}

/** Reads a reply that is complete. */
export function readWholeReply(offer: AnswerOffer, reply: string): ReplyReading {
  return endAnswer(readAnswer(createAnswerReader(offer), reply));
}

/** Removes blank lines after the last line of talk. */
function withoutBlankEnd(talk: string): string {
  const end = inkEndOf(talk);
  return end === 0 ? '' : talk.slice(0, talk.indexOf('\n', end) + 1);
}

/** Ignores a marker after another answer: it only ends the message. */
function withoutEnding(answers: readonly Word[]): readonly Word[] {
  const start = answers.findIndex((word) => !word.isMarker);
  if (start !== 0) return answers;
  return answers.filter((word) => !word.isMarker);
}

/** Null if a reply with this line cannot be an answer. */
function withLine(offer: AnswerOffer, said: Said, line: string): Said | null {
  const bare = undressed(line);
  if (bare === '') return said.talkLines === 0 ? said : { ...said, talk: `${said.talk}${line}\n` };
  const text = stripIndentation(bare);
  if (text.length > LINE_LIMIT) return null;
  if (parseFenceLine(text) !== null)
    return said.fences === MAX_FENCES ? null : { ...said, fences: said.fences + 1 };
  const answer = isDenied(said.lastTalk) ? null : answerIn(offer, text);
  const answers = answer === null ? said.answers : [...said.answers, answer.word];
  if (answers.length > MAX_ANSWERS) return null;
  const talk = answer === null ? bare : answer.talk;
  if (talk === '') return { ...said, answers, lastTalk: '' };
  if (!isTalk(talk)) return null;
  const talkLength = said.talkLength + talk.length;
  if (said.talkLines === MAX_TALK_LINES || talkLength > MAX_TALK_LENGTH) return null;
  return {
    ...said,
    answers,
    talk: `${said.talk}${answer === null ? line : talk}\n`,
    talkLines: said.talkLines + 1,
    talkLength,
    lastTalk: talk,
  };
}

/** An answer that is the whole line, or its last sentence. */
function answerIn(
  offer: AnswerOffer,
  line: string,
): { readonly word: Word; readonly talk: string } | null {
  const core = bareSentence(line);
  const whole = wordOf(offer, core) ?? wordOf(offer, bareSentence(withoutTags(line)));
  if (whole !== null) return { word: whole, talk: '' };
  const start = lastSentence(core);
  if (start === 0) return null;
  const talk = core.slice(0, start);
  const word = wordOf(offer, bareSentence(core.slice(start)));
  if (word !== null && !isTalk(talk) && isLabel(talk.replace(/[:：]$/u, '')))
    return { word, talk: '' };
  return word === null || !word.isExact || !isTalk(talk) || isDenied(talk) ? null : { word, talk };
}

const VERB = /^(done|keep|strip|drop|again|end)(?:[ \t]+([0-9a-f]{1,15}))?$/iu;

function wordOf(offer: AnswerOffer, core: string): Word | null {
  const [, verb, argument] = VERB.exec(core) ?? [];
  if (verb === undefined) return null;
  const choice = choiceOf(offer, verb.toUpperCase(), argument);
  if (choice === null) return null;
  return {
    choice,
    isMarker: /^done$/iu.test(verb),
    isExact: verb === verb.toUpperCase(),
    isLowerCase: verb === verb.toLowerCase(),
  };
}

function choiceOf(offer: AnswerOffer, verb: string, argument: string | undefined): string | null {
  if (verb === 'END')
    return argument !== undefined && /^[0-9]+$/u.test(argument) ? `END ${Number(argument)}` : null;
  if (verb !== 'DONE') return argument === undefined ? verb : null;
  if (argument !== undefined && argument.length !== 4) return null;
  const marker = argument === undefined ? verb : `${verb} ${argument.toLowerCase()}`;
  // In strict mode any other marker is ordinary text and answers nothing.
  return offer.strict && marker !== offer.endMarker ? `other ${marker}` : verb;
}

const SENTENCE_END = /[.!?…:。！？：]/u;

const QUOTES = '"\'`*_#>“”„‟«»‹›‘’‚「」『』';
const BLANKS = ' \\t\\r';
const DECORATED_START = new RegExp(`^[${QUOTES}${BLANKS}]+`, 'u');
const QUOTED_START = new RegExp(`^[${QUOTES}¡¿]+[${BLANKS}]*`, 'u');
const DECORATED_END = endOf(`${QUOTES}${BLANKS}`);
const CLOSED_END = endOf(`${QUOTES}${BLANKS}.!…。！`);

/** Matches a run of these characters at the end of a text, in linear time. */
function endOf(characters: string): RegExp {
  return new RegExp(`(?<![${characters}])[${characters}]+$`, 'u');
}

/** Without the decoration around a word and the full stop after it. */
function bareSentence(text: string): string {
  return text.replace(DECORATED_START, '').replace(CLOSED_END, '');
}

/** The offset of the last sentence of a line; 0 if there is only one. */
function lastSentence(core: string): number {
  let start = core.length;
  while (start > 0 && !SENTENCE_END.test(core.charAt(start - 1))) start -= 1;
  return start;
}

/** Whether a line is a chat line; it may also be a question (R022, R270). */
function isTalk(line: string): boolean {
  const bare = line.replace(QUOTED_START, '').replace(DECORATED_END, '');
  return isChatLine(bare.replace(/[?？؟।]$/u, '.'));
}

/** `The answer is not: KEEP` */
function isDenied(talk: string): boolean {
  return /[:：]$/u.test(talk) && /\b(?:no|not|never|neither|nor)\b|n['’]t\b/iu.test(talk);
}

function startsWithAnchor(reply: string, anchor: Anchor | null): boolean {
  if (anchor === null) return false;
  if (anchor.kind === 'characters')
    return stripBlankStart(reply.replaceAll('\r\n', '\n')).startsWith(
      stripBlankStart(anchor.text.replaceAll('\r\n', '\n')),
    );
  const lines = reply.split('\n').filter((line) => !isBlankLine(line));
  const expected = anchor.lines.filter((line) => !isBlankLine(line));
  for (const [start, line] of lines.entries()) {
    if (beginsAt(lines, start, expected, anchor.openLine)) return true;
    if (undressed(line) !== '' && !isTalk(line) && parseFenceLine(line) === null) return false;
  }
  return false;
}

function beginsAt(
  lines: readonly string[],
  start: number,
  expected: readonly string[],
  openLine: string,
): boolean {
  if (expected.length === 0) return (lines[start] ?? '').startsWith(openLine);
  return expected.every((line, index) => {
    const found = lines[start + index];
    if (found === undefined) return false;
    return index === 0
      ? stripIndentation(trimLine(found)) === stripIndentation(trimLine(line))
      : trimLine(found) === trimLine(line);
  });
}

function stripBlankStart(text: string): string {
  return text.slice(inkStartOf(text));
}
