import type { Document } from './documents.ts';
import type { FirstMessage } from './firsts.ts';
import { honestAnswer, wholeDocument } from './honest.ts';
import type { Right } from './honest.ts';
import { readQuestion } from './prompts.ts';
import type { Question } from './prompts.ts';

/** What a model is asked, and what it knows. */
export type Situation = {
  readonly question: Question;
  readonly document: Document;
  readonly sent: FirstMessage;
  readonly right: Right;
};

/** A way of answering. */
export type Answer = {
  readonly name: string;
  /** Whether the right answer is in it, for somebody who reads it. */
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
  helpful('in a sentence', (word) => `I looked at it again, and it is clear now. ${word}`),
  helpful('talk before', (word) => `You are right, that was not clear.\n\n${word}`),
  helpful('talk after', (word) => `${word}\n\nLet me know if you need anything else!`),
  helpful('then DONE', (word, { question }) =>
    word === question.done ? word : `${word}\n${question.done}`,
  ),
  helpful('thinking first', (word) => `<think>\nThey ask about the end.\n</think>\n\n${word}`, {
    text: (text) => `<think>\nI go on.\n</think>\n\n${text}`,
  }),
  {
    name: 'the document again',
    helps: true,
    reply: ({ document, question }) => wholeDocument(document, question.done),
  },
  {
    name: 'the message again',
    helps: true,
    reply: ({ sent }) => ({ kind: 'text', text: sent.text, fresh: sent.text }),
  },
  {
    name: 'without the anchor',
    helps: false,
    reply: ({ right }) => (right.kind === 'word' ? right : { ...right, text: right.fresh }),
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
    text: (text) => `${text}\nDONE`,
  },
  { name: 'bold', word: (word) => dressed(word, '**'), text: plain },
  { name: 'back-ticks', word: (word) => dressed(word, '`'), text: plain },
  { name: 'quotes', word: (word) => dressed(word, '"'), text: plain },
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

/** The whole reply of a model to a prompt. */
export function replyTo(
  prompt: string,
  model: {
    readonly document: Document;
    readonly sent: FirstMessage;
    readonly answer: Answer;
    readonly dress: Dress;
  },
): string {
  const { document, sent, answer, dress } = model;
  const question = readQuestion(prompt);
  const right = honestAnswer(question, document, sent);
  const said = answer.reply({ question, document, sent, right });
  return said.kind === 'word' ? dress.word(said.word) : dress.text(said.text);
}

function helpful(
  name: string,
  word: (word: string, situation: Situation) => string,
  more: { readonly text?: (text: string) => string } = {},
): Answer {
  const { text = plain } = more;
  return {
    name,
    helps: true,
    reply: (situation) => {
      const { right } = situation;
      return right.kind === 'word'
        ? say(word(right.word, situation))
        : { ...right, text: text(right.text) };
    },
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
function dressed(word: string, around: string): string {
  return word
    .split('\n')
    .map((line) => (line.trim() === '' ? line : `${around}${line}${around}`))
    .join('\n');
}

/** Text in a fence that holds the marker too, as models send it. */
function fenced(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``;
}
