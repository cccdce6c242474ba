import type { Document } from './documents.ts';
import type { FirstMessage } from './firsts.ts';
import { honestAnswer, wholeDocument } from './honest.ts';
import type { Around, Right } from './honest.ts';
import { readQuestion } from './prompts.ts';
import type { Asked, Question } from './prompts.ts';

/** What a model is asked, and what it knows. */
export type Situation = {
  readonly prompt: string;
  readonly question: Question;
  readonly document: Document;
  readonly sent: FirstMessage;
  readonly right: Right;
};

/** A way of answering. */
export type Answer = {
  readonly name: string;
  /** Whether the right answer is in it, for a reader. */
  readonly helps: boolean;
  readonly reply: (situation: Situation) => Right;
};

/** A decoration of whatever is answered. */
export type Dress = {
  readonly name: string;
  readonly word: (word: string) => string;
  /** Of text that belongs to the file. */
  readonly text: (text: string) => string;
};

const plain = (said: string): string => said;
const say = (word: string): Right => ({ kind: 'word', word });
const always =
  (word: string): Answer['reply'] =>
  () =>
    say(word);

const EXACT = helpful('exact', plain);

export const ANSWERS: readonly Answer[] = [
  EXACT,
  helpful('lower case', (word) => word.toLowerCase()),
  talking('in a sentence', (said) => `I looked at it again, and it is clear now. ${said}`),
  talking('talk before', (said) => `You are right, that was not clear.\n\n${said}`),
  talking('talk after', (said) => `${said}\n\nLet me know if you need anything else!`),
  helpful('then DONE', (word, { question }) =>
    word === question.done ? word : `${word}\n${question.done}`,
  ),
  {
    ...talking('thinking first', plain),
    reply: ({ right }) => ({
      ...right,
      around: (said) => `<think>\nThey ask about the file.\n</think>\n\n${said}`,
    }),
  },
  {
    name: 'the document again',
    helps: true,
    reply: ({ document, question }) => wholeDocument(document, question.done),
  },
  {
    name: 'the message again',
    helps: false,
    reply: ({ sent }) => ({ kind: 'text', text: sent.text, fresh: sent.text, cut: sent.cut }),
  },
  {
    name: 'without the anchor',
    helps: false,
    reply: ({ right }) => (right.kind === 'word' ? right : { ...right, text: right.fresh }),
  },
  { name: 'the prompt again', helps: false, reply: ({ prompt }) => say(prompt) },
  {
    name: 'the quotation again',
    helps: false,
    reply: ({ question: { asked } }) => say('quote' in asked ? asked.quote : 'I see.'),
  },
  {
    name: 'half of it',
    helps: false,
    reply: ({ right }) =>
      right.kind === 'word'
        ? right
        : { ...right, text: right.text.slice(0, right.text.length / 2), cut: true },
  },
  {
    name: 'the choices',
    helps: false,
    reply: ({ question }) =>
      say(question.choices.length === 0 ? 'DONE or not' : question.choices.join('\n')),
  },
  {
    name: 'wrong kind',
    helps: false,
    reply: ({ question }) =>
      say(['KEEP', 'DONE', 'STRIP'].find((one) => !question.choices.includes(one)) ?? 'AGAIN'),
  },
  { name: 'in words', helps: false, reply: ({ right }) => say(inWords(right)) },
  { name: 'always DONE', helps: false, reply: always('DONE') },
  { name: 'always finished', helps: false, reply: always('Yes, I am finished.') },
  { name: 'finished, DONE', helps: false, reply: always('Yes, I am finished.\nDONE') },
  { name: 'not yet', helps: false, reply: always('I am not DONE yet') },
  { name: 'silent', helps: false, reply: always('') },
];

const PLAIN: Dress = { name: 'plain', word: plain, text: plain };

/** The ways of the core of the matrix: half of them say what is right, in some dress. */
export function coreWays(): readonly { readonly answer: Answer; readonly dress: Dress }[] {
  return CORE.map(([answer, dress]) => ({
    answer: named(ANSWERS, answer),
    dress: named(DRESSES, dress),
  }));
}

const CORE: readonly (readonly [answer: string, dress: string])[] = [
  ['exact', 'plain'],
  ['exact', 'bold'],
  ['exact', 'fence'],
  ['exact', 'doubled'],
  ['exact', 'Spanish'],
  ['lower case', 'plain'],
  ['in a sentence', 'plain'],
  ['the document again', 'plain'],
  ['without the anchor', 'plain'],
  ['the choices', 'plain'],
  ['wrong kind', 'plain'],
  ['always DONE', 'plain'],
  ['always finished', 'plain'],
  ['silent', 'plain'],
];

function named<Item extends { readonly name: string }>(items: readonly Item[], name: string): Item {
  const item = items.find((one) => one.name === name);
  if (item === undefined) throw new Error(`there is no ${name}`);
  return item;
}

/** How a good model answers. */
export const GOOD: { readonly answer: Answer; readonly dress: Dress } = {
  answer: EXACT,
  dress: PLAIN,
};

export const DRESSES: readonly Dress[] = [
  PLAIN,
  {
    name: 'doubled',
    word: (word) => `${word}\n${word}`,
    text: (text) => (/(?:^|\n)DONE$/u.test(text) ? `${text}\nDONE` : text),
  },
  { name: 'bold', word: (word) => dressed(word, '**'), text: plain },
  { name: 'back-ticks', word: (word) => dressed(word, '`'), text: plain },
  { name: 'quotes', word: (word) => dressed(word, '"'), text: plain },
  { name: 'tags', word: (word) => `<answer>${word}</answer>`, text: plain },
  { name: 'JSON', word: (word) => JSON.stringify({ answer: word }), text: plain },
  {
    name: 'tool call',
    word: (word) =>
      `<tool_call>\n${JSON.stringify({ name: 'answer', arguments: { choice: word } })}\n</tool_call>`,
    text: plain,
  },
  { name: 'list', word: (word) => dressed(word, '1. ', ''), text: plain },
  { name: 'label', word: (word) => dressed(word, 'Answer: ', ''), text: plain },
  { name: 'tick', word: (word) => dressed(word, '✅ ', ''), text: plain },
  { name: 'right to left', word: (word) => dressed(word, '\u200f'), text: plain },
  { name: 'CRLF', word: (word) => `${word.replaceAll('\n', '\r\n')}\r\n`, text: plain },
  { name: 'fence', word: (word) => `\`\`\`\n${word}\n\`\`\``, text: fenced },
  { name: 'full stop', word: (word) => (word === '' ? '' : `${word}.`), text: plain },
  {
    name: 'sentence',
    word: (word) => `The answer to your question is this. ${word}`,
    text: (text) => `Of course, here is the rest:\n\n${text}`,
  },
  {
    name: 'Spanish',
    word: (word) => `Claro, ya entiendo la pregunta.\n\n${word}`,
    text: (text) => `Claro, aquí está el resto:\n\n${text}`,
  },
  {
    name: 'Chinese',
    word: (word) => `好的，我明白了。\n${word}\n`,
    text: (text) => `好的，以下是其余内容：\n\n${text}`,
  },
  {
    name: 'German, bold',
    word: (word) => `Verstanden, danke für den Hinweis!\n\n${dressed(word, '**')}`,
    text: (text) => `Gerne, hier ist der Rest:\n\n${text}`,
  },
];

export type Reply = {
  readonly text: string;
  /** It ends because it is too long. */
  readonly cut: boolean;
};

type Speaker = {
  readonly document: Document;
  readonly sent: FirstMessage;
  readonly answer: Answer;
  readonly dress: Dress;
};

/**
 * What was asked where a model chose one of the offered answers that was not the right one. What becomes of the file
 * then is its own doing; that the receipt names it is not.
 */
export function falseAnswerTo(prompt: string, model: Speaker): Asked['kind'] | null {
  const situation = situationOf(prompt, model);
  const said = model.answer.reply(situation);
  if (said.kind !== 'word') return null;
  const { right, question } = situation;
  const chosen = chosenIn(said.word.split('\n'), question);
  const isRight = right.kind === 'word' && chosen === right.word;
  return chosen === null || isRight ? null : question.asked.kind;
}

/** The answer that these lines are, as R270 reads them; null: none, or more than one. */
function chosenIn(lines: readonly string[], { choices, done }: Question): string | null {
  const [first, ...others] = lines.filter((line) => choices.includes(line));
  if (first === undefined) return null;
  // Behind another answer the marker only ends the message.
  return others.every((other) => other === first || other === done) ? first : null;
}

function situationOf(prompt: string, { document, sent }: Speaker): Situation {
  const question = readQuestion(prompt);
  return { prompt, question, document, sent, right: honestAnswer(question, document, sent) };
}

/** The whole reply of a model to a prompt. */
export function replyTo(prompt: string, model: Speaker): Reply {
  const { answer, dress } = model;
  const said = answer.reply(situationOf(prompt, model));
  const { around = plain } = said;
  if (said.kind === 'word') return { text: around(dress.word(said.word)), cut: false };
  // What is cut off is not finished off.
  return said.cut === true
    ? { text: said.text, cut: true }
    : { text: around(dress.text(said.text)), cut: false };
}

/** Says the right word in its own spelling. */
function helpful(name: string, spell: (word: string, situation: Situation) => string): Answer {
  return {
    name,
    helps: true,
    reply: (situation) => {
      const { right } = situation;
      return right.kind === 'word' ? say(spell(right.word, situation)) : right;
    },
  };
}

/** Says something beside the right word; text of the file is sent alone. */
function talking(name: string, around: Around): Answer {
  return {
    name,
    helps: true,
    reply: ({ right }) => (right.kind === 'word' ? { ...right, around } : right),
  };
}

function inWords(right: Right): string {
  if (right.kind === 'text') return 'There is more of the file to come.';
  const line = /^END ([0-9]+)$/u.exec(right.word)?.[1];
  if (line !== undefined) return `The file ends before line ${line}.`;
  const words: Readonly<Record<string, string>> = {
    DONE: 'The file is complete as it is.',
    KEEP: 'That is part of the file.',
    STRIP: 'Those only wrap the file.',
    DROP: 'That is not part of the file.',
  };
  return words[right.word] ?? 'It is finished.';
}

/** Each line of an answer, as it is decorated. */
function dressed(word: string, before: string, after: string = before): string {
  return word
    .split('\n')
    .map((line) => (line.trim() === '' ? line : `${before}${line}${after}`))
    .join('\n');
}

/** Text in a fence that holds the marker too, as models send it. */
function fenced(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``;
}
